import { join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { DestinationError } from "../../errors.ts";
import { entryAt } from "../../files.ts";
import { uncoded } from "../../message.ts";
import { firstLineOf } from "../duckdb/session/failure.ts";
import { quoted, select } from "../duckdb/session/session.ts";
import { isRemote, isServed, type LakePlace } from "./place.ts";

/** DuckDB's extensions that a lake needs: it brings none of them itself. */
export const extensionsOf = (place: LakePlace): readonly string[] => [
  "ducklake",
  ...(isServed(place) ? ["postgres_scanner"] : []),
  ...(isRemote(place) ? ["httpfs"] : []),
  ...(isRemote(place) && place.storage?.keyId === undefined ? ["aws"] : []),
];

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
  const file = `${name}.duckdb_extension`;
  // As they lie in DuckDB's own folder, or side by side.
  const places = [join(folder, version, platform, file), join(folder, version, file), join(folder, file)];
  for (const path of places)
    if ((await entryAt(path)) !== undefined)
      return void (await connection.run(`load ${quoted(path)}`).catch(error => {
        throw new DestinationError(
          uncoded(
            `Expected ${path} to be DuckDB's extension ${name} for DuckDB ${version} on ${platform}, but: ${firstLineOf(error)}. Put that one into destination.extensions.`,
          ),
          error,
        );
      }));
  throw new DestinationError(
    uncoded(
      `Expected DuckDB's extension ${name} (DuckDB ${version}, ${platform}) in destination.extensions, but there is no ${file} in ${folder}, nor in ${join(folder, version, platform)}. Put it there, or leave destination.extensions out on a machine that reaches extensions.duckdb.org.`,
    ),
  );
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
      uncoded(
        `Expected DuckDB to install its extension ${name}, which destination.type ducklake needs, but: ${firstLineOf(error)}. Let this machine reach extensions.duckdb.org once, or put the extensions into a folder and name it in destination.extensions.`,
      ),
      error,
    );
  }
}
