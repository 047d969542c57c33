import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { systemClock } from "../../clock.ts";
import { entryAt } from "../../files.ts";
import type { Message } from "../../message.ts";
import { inspectServer, requireRights } from "../ddl/rights.ts";
import { attempting } from "../duckdb/session/failure.ts";
import { openEmpty, quoted, select } from "../duckdb/session/session.ts";
import { kyselyOver } from "../postgres/driver.ts";
import { Session as Server } from "../postgres/session.ts";
import { extensionsOf, loadExtensions, TRIED } from "./extensions.ts";
import { lakeFailure } from "./failure.ts";
import { connectCatalog } from "./open.ts";
import { isRemote, type LakePlace } from "./place.ts";
import { storageSecret } from "./session.ts";

export interface LakeInspection {
  /** Each of DuckDB's extensions, its version, and where it is from. */
  readonly extensions: readonly string[];
  readonly server: { readonly said: string; readonly protection: string; readonly warnings: readonly Message[] };
}

/** Looks whether a run could make or write a lake, and these schemas of its catalog's server; writes nothing. @throws DestinationError, ConfigError */
export async function inspectLake(place: LakePlace, schemas: readonly string[]): Promise<LakeInspection> {
  const extensions = await inspectStorage(place);
  const connected = await connectCatalog({ ...place, clock: systemClock });
  const session = new Server(connected);
  try {
    const db = kyselyOver(session, place.stateSchema);
    const { version, user, database } = await inspectServer(db);
    await requireRights(db, schemas);
    const { protection, warnings } = connected;
    return {
      extensions,
      server: { said: `PostgreSQL ${version}, database ${database} as ${user}`, protection, warnings },
    };
  } finally {
    await session.end();
  }
}

async function inspectStorage(place: LakePlace): Promise<readonly string[]> {
  using session = await openEmpty({ memoryLimitMb: 64, threads: 1, spill: "", spillsInPrivate: true });
  const { connection } = session;
  await loadExtensions(connection, place);
  if (isRemote(place)) {
    const files = quoted(`${place.dataPath.replace(/\/$/, "")}/*`);
    await attempting(
      `list ${place.dataPath}`,
      async () => {
        await connection.run(storageSecret(place.storage));
        await connection.run(`select count(*) from glob(${files})`);
      },
      lakeFailure,
    );
  } else await requireFolder(place.dataPath);
  const names = extensionsOf(place).map(quoted).join(", ");
  const rows = await select(
    connection,
    `select extension_name, extension_version, install_path from duckdb_extensions() where extension_name in (${names})`,
  );
  return rows.map(([name, version, path]) => {
    const untried =
      name === "ducklake" && version !== TRIED ? `, not the build that tributary's tests ran with (${TRIED})` : "";
    return `${name} ${version}${path === "" ? "" : `, from ${path}`}${untried}`;
  });
}

/** The folder, or the nearest one above it that is there, can be written. */
async function requireFolder(folder: string): Promise<void> {
  await attempting(`write to ${folder}`, async () => {
    let there = folder;
    while ((await entryAt(there)) === undefined && dirname(there) !== there) there = dirname(there);
    if (!(await stat(there)).isDirectory()) throw new Error(`ENOTDIR: ${there} is no folder`);
    await access(there, constants.W_OK | constants.X_OK);
  });
}
