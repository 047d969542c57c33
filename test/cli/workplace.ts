import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { inject, onTestFinished } from "vitest";
import { stringify } from "yaml";
import { type Simulator, type SimulatorOptions, startSimulator } from "../../simulator/simulator.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";
import { type Ended, emptyFolder, type Place, start, tributary } from "./process.ts";

/** What no output may hold, in no test. */
export const secretKey = "sk-neverShown+71/z";
export const secretPassword = "pw-neverShown-72";

/** A folder with a configuration, as a user has it; every output is searched for the secrets. */
export interface Workplace {
  readonly folder: string;
  run(args: readonly string[], more?: Partial<Place>): Promise<Ended>;
  /** Starts without waiting for the end. */
  start(...args: readonly string[]): ReturnType<typeof start>;
}

const sizes = { orders: 12, invoices: 8, items: 130, findings: 5, ingested: 20 };

/** A small service that goes with the test. */
export async function simulated(options: SimulatorOptions = {}): Promise<Simulator> {
  const simulator = await startSimulator({ key: secretKey, sizes, ...options });
  onTestFinished(() => simulator.close());
  return simulator;
}

/** A workplace for a service; further keys are merged into the configuration. */
export function workplace(
  simulator: { readonly url: string },
  { destination = { path: "./w.duckdb" }, ...more }: Readonly<Record<string, unknown>> = {},
): Workplace {
  const cwd = emptyFolder();
  const api = { base_url: simulator.url, key: `\${KEY}` };
  writeFileSync(join(cwd, "config.yaml"), stringify({ api, company: "acme", destination, ...more }));
  const place: Place = { cwd, env: { KEY: secretKey, PASSWORD: secretPassword } };
  return {
    folder: cwd,
    async run(args, others = {}) {
      const ended = await tributary(args, { ...place, ...others });
      for (const secret of [secretKey, secretPassword, encodeURIComponent(secretKey)])
        if (`${ended.stdout}${ended.stderr}`.includes(secret)) throw new Error(`${args.join(" ")} showed a secret`);
      return ended;
    },
    start(...args) {
      const child = start(args, place);
      onTestFinished(() => void child.kill("SIGKILL"));
      return child;
    },
  };
}

/** A database and a role of its own, with a `destination` for the configuration. */
export interface RoleDatabase extends TestDatabase {
  readonly role: string;
  readonly destination: Readonly<Record<string, unknown>>;
}

export async function roleDatabase(mayCreate = true): Promise<RoleDatabase> {
  const database = await createDatabase(inject("postgresUrl"));
  const role = `r_${randomBytes(6).toString("hex")}`;
  await database.admin.query(`create role ${role} login password '${secretPassword}'`);
  if (mayCreate)
    await database.admin.query(`grant create on database ${new URL(database.url).pathname.slice(1)} to ${role}`);
  onTestFinished(async () => {
    await database.admin.query(`drop owned by ${role} cascade; drop role ${role}`);
    await database.drop();
  });
  const url = database.as(role, "PLACE").replace("PLACE", `\${PASSWORD}`);
  return { ...database, role, destination: { type: "postgres", url } };
}

/** What a command with --json printed. */
export function json<T = Record<string, unknown>>({ stdout, stderr, code }: Ended): T {
  try {
    return JSON.parse(stdout) as T;
  } catch {
    throw new Error(`expected one JSON document, got ${JSON.stringify(stdout)} (${code}): ${stderr}`);
  }
}
