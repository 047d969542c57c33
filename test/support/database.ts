import { randomBytes } from "node:crypto";
import pg from "pg";

/** A database of its own on a real server, with a superuser's client beside the session under test. */
export interface TestDatabase {
  readonly url: string;
  readonly admin: pg.Client;
  /** The database's address for another role. */
  as(role: string, password: string): string;
  drop(): Promise<void>;
}

/** Makes a database; its name is random, so that suites can run side by side. */
export async function createDatabase(serverUrl: string): Promise<TestDatabase> {
  const name = `t_${randomBytes(6).toString("hex")}`;
  await ask(serverUrl, `create database ${name} encoding 'UTF8' template template0 strategy file_copy`);
  const address = new URL(serverUrl);
  address.pathname = `/${name}`;
  const admin = await connected(address.href);
  return {
    url: address.href,
    admin,
    as(role, password) {
      const other = new URL(address);
      other.username = role;
      other.password = password;
      return other.href;
    },
    async drop() {
      await admin.end();
      await ask(serverUrl, `drop database ${name} with (force)`);
    },
  };
}

async function ask(url: string, statement: string): Promise<void> {
  const client = await connected(url);
  await client.query(statement);
  await client.end();
}

export async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  return client;
}
