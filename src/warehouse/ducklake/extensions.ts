import { join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { DestinationError } from "../../errors.ts";
import { entryAt } from "../../files.ts";
import { firstLineOf } from "../duckdb/session/failure.ts";
import { quoted, select } from "../duckdb/session/session.ts";
import { lakeMessages } from "./messages.ts";
import { isRemote, type LakePlace } from "./place.ts";

/** DuckDB's extensions that a lake needs: it brings none of them itself. */
export const extensionsOf = (place: LakePlace): readonly string[] => [
  "ducklake",
  "postgres_scanner",
  ...(isRemote(place) ? ["httpfs"] : []),
  ...(isRemote(place) && place.storage?.keyId === undefined ? ["aws"] : []),
];

/** The build of `ducklake` that the tests ran with: others may lose or double rows in ways that nobody has looked for. */
export const TRIED = "d8a1881e";

/** Loads them from the configured folder, else those that were installed, else DuckDB installs them. @throws DestinationError */
export async function loadExtensions(connection: DuckDBConnection, place: LakePlace): Promise<void> {
  for (const name of extensionsOf(place)) {
    if (place.extensions !== undefined) await loadFile(connection, name, place.extensions);
    else await loadInstalled(connection, name);
  }
}

async function loadFile(connection: DuckDBConnection, name: string, folder: string): Promise<void> {
  const [row] = await select(
    connection,
    "select library_version, (select platform from pragma_platform()) from pragma_version()",
  );
  const [version, platform] = (row ?? []).map(String) as [string, string];
  const wanted = { extension: name, version, platform };
  const file = `${name}.duckdb_extension`;
  // As they lie in DuckDB's own folder, side by side, or as pip installs their packages.
  const own = [join(folder, version, platform), join(folder, version), folder];
  const places = [...own, join(folder, `duckdb_extension_${name}`, "extensions", version)].map(at => join(at, file));
  for (const path of places)
    if ((await entryAt(path)) !== undefined)
      return void (await connection.run(`load ${quoted(path)}`).catch(error => {
        throw new DestinationError(
          lakeMessages.extension_unusable({ ...wanted, path, reason: firstLineOf(error) }),
          error,
        );
      }));
  const folders = [folder, join(folder, version, platform)];
  throw new DestinationError(lakeMessages.extension_missing({ ...wanted, file, folders }));
}

async function loadInstalled(connection: DuckDBConnection, name: string): Promise<void> {
  const isThere = await connection.run(`load ${name}`).then(
    () => true,
    () => false,
  );
  if (isThere) return;
  try {
    await connection.run(`install ${name}`);
    await connection.run(`load ${name}`);
  } catch (error) {
    throw new DestinationError(
      lakeMessages.extension_not_installed({ extension: name, reason: firstLineOf(error) }),
      error,
    );
  }
}
