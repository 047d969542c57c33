import { readdir } from "node:fs/promises";
import type { DuckDBConnection } from "@duckdb/node-api";
import { ConfigError, DestinationError } from "../../errors.ts";
import type { Message } from "../../message.ts";
import { quotedName } from "../database.ts";
import { firstLineOf } from "../duckdb/session/failure.ts";
import { openEmpty, quoted, type Resources, type Session, select } from "../duckdb/session/session.ts";
import { libpqOf } from "../postgres/connect.ts";
import { loadExtensions } from "./extensions.ts";
import { lakeFailure } from "./failure.ts";
import { lakeMessages } from "./messages.ts";
import { catalogOf, isRemote, LAKE, type LakePlace, type LakeStorage, SERVER, TABLES, UNINLINED } from "./place.ts";

/** Changes of up to so many rows stay in the catalog until they are written to a file together. */
const INLINED_ROWS = 200;

/** While files are written the catalog's transaction stands still, and compiling its plans takes longer than they run. */
const CATALOG_SETTINGS = [
  ...["statement_timeout=0", "idle_in_transaction_session_timeout=0", "idle_session_timeout=0"],
  "jit=off",
] as const;

const CATALOG_SECRET = "tributary_catalog";

export interface LakeSession extends Session {
  readonly warnings: readonly Message[];
}

/**
 * A session of DuckDB in memory, with the lake attached and in use. To write, it is made where there is none; to read, the
 * answer is undefined there. @throws DestinationError, ConfigError
 */
export async function openLakeSession(
  place: LakePlace,
  access: "read" | "write",
  resources: Resources,
): Promise<LakeSession | undefined> {
  const session = await openEmpty(resources);
  const { connection } = session;
  try {
    await loadExtensions(connection, place);
    if (isRemote(place)) await connection.run(storageSecret(place.storage));
    const { catalog, warnings } = await attachServer(connection, place);
    const options = access === "read" ? ["read_only"] : [`data_path ${quoted(place.dataPath)}`];
    if (access === "read") {
      const last = await lastSnapshot(connection, place);
      if (last === undefined) {
        session.close();
        return undefined;
      }
      // All that is asked of it is of one moment, however long that takes.
      options.push(`snapshot_version ${last}`);
    }
    options.push(
      `metadata_schema ${quoted(place.catalogSchema)}`,
      `metadata_parameters map {'secret': '${CATALOG_SECRET}'}`,
    );
    const attach = (name: string, more: string) =>
      connection.run(`attach ${quoted(`ducklake:${catalog}`)} as ${name} (${[...options, more].join(", ")})`);
    await attach(LAKE, `data_inlining_row_limit ${INLINED_ROWS}`);
    if (access === "write") await attach(UNINLINED, "data_inlining_row_limit 0");
    await connection.run(`use ${LAKE}`);
    await connection.run(tablesView(place));
    await requireFiles(connection, place);
    return { ...session, warnings };
  } catch (error) {
    session.close();
    throw unattached(place, error);
  }
}

/** DuckLake makes a folder that isn't there: where a drive is not mounted it would put files beneath the mount point. */
async function requireFiles(connection: DuckDBConnection, place: LakePlace): Promise<void> {
  if (isRemote(place) || (await entriesOf(place.dataPath)) > 0) return;
  const [row] = await select(
    connection,
    `select count(*) from ${catalogText(place)}.ducklake_data_file where end_snapshot is null`,
  );
  if (Number(row?.[0]) === 0) return;
  throw new DestinationError(lakeMessages.files_missing({ data_path: place.dataPath }), undefined, true);
}

const entriesOf = (folder: string): Promise<number> =>
  readdir(folder).then(
    names => names.length,
    () => 0,
  );

const catalogText = (place: LakePlace): string => catalogOf(place).map(quotedName).join(".");

/** Asked of DuckDB, the tables' names take a question to the catalog for each of them: it tells their sizes, too. */
function tablesView(place: LakePlace): string {
  const from = catalogText(place);
  return `create temporary view ${TABLES} as select s.schema_name as "schema", t.table_name as name,
    exists (select 1 from ${from}.ducklake_table_stats st where st.table_id = t.table_id) as has_statistics,
    (select list(column_name) from ${from}.ducklake_column c where c.table_id = t.table_id and c.end_snapshot is null) as columns
    from ${from}.ducklake_table t join ${from}.ducklake_schema s using (schema_id)
    where t.end_snapshot is null and s.end_snapshot is null`;
}

/** Attaches the catalog's PostgreSQL. `catalog`: its address for DuckLake. */
async function attachServer(
  connection: DuckDBConnection,
  { catalog, mark }: LakePlace,
): Promise<{ readonly catalog: string; readonly warnings: readonly Message[] }> {
  const { given, options } = libpqOf(catalog, mark);
  const secret = Object.entries(given).map(([name, value]) => `${name} ${quoted(value)}`);
  // Not in the address, which errors show.
  await connection.run(`create temporary secret ${CATALOG_SECRET} (${["type postgres", ...secret].join(", ")})`);
  // Of no schema: nothing is looked up there but what is asked in PostgreSQL's own words.
  const none = quoted(" ");
  const attach = async (words: string) => {
    const how = `(type postgres, secret ${CATALOG_SECRET}, read_only, schema ${none})`;
    await connection.run(`attach ${quoted(words)} as ${SERVER} ${how}`);
    return `postgres:${words}`;
  };
  const settings = CATALOG_SETTINGS.map(setting => `-c ${setting}`).join(" ");
  try {
    return { catalog: await attach(`${options} options='${settings}'`), warnings: [] };
  } catch (error) {
    // Some poolers accept no settings at the start, and PostgreSQL 13 does not know `idle_session_timeout`.
    if (!/startup parameter|idle_session_timeout[^=]/.test(String(error))) throw error;
    const refused = lakeMessages.settings_refused({ reason: firstLineOf(error) });
    return { catalog: await attach(options), warnings: [refused] };
  }
}

async function lastSnapshot(connection: DuckDBConnection, { catalogSchema }: LakePlace): Promise<number | undefined> {
  const ask = async (question: string) =>
    (await select(connection, `select * from postgres_query(${quoted(SERVER)}, ${quoted(question)})`))[0]?.[0];
  const table = `${quotedName(catalogSchema)}.ducklake_snapshot`;
  if ((await ask(`select to_regclass(${quoted(table)}) is not null`)) !== true) return undefined;
  return Number(await ask(`select max(snapshot_id) from ${table}`));
}

export function storageSecret(
  { keyId, secret, sessionToken, region, endpoint, urlStyle }: LakeStorage = { urlStyle: "vhost" },
): string {
  const address = endpoint === undefined ? undefined : new URL(endpoint);
  const values: Readonly<Record<string, string | undefined>> = {
    key_id: keyId,
    secret,
    session_token: sessionToken,
    region,
    endpoint: address && `${address.host}${address.pathname.replace(/\/$/, "")}`,
    use_ssl: address && String(address.protocol === "https:"),
    url_style: urlStyle,
  };
  const given = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name} ${quoted(value)}`],
  );
  const provider = keyId === undefined ? "credential_chain" : "config";
  return `create temporary secret tributary_storage (${["type s3", `provider ${provider}`, ...given].join(", ")})`;
}

function unattached(place: LakePlace, error: unknown): unknown {
  const reason = firstLineOf(error);
  const says = (...words: readonly string[]) => words.every(word => reason.includes(word));
  if (says("DATA_PATH", "does not match"))
    return new ConfigError(lakeMessages.other_data_path({ data_path: place.dataPath, reason }));
  if (says("DuckLake", "version", "support") || says("DuckLake", "version", "newer"))
    return new DestinationError(lakeMessages.other_version({ reason }), error);
  return lakeFailure("open the lake", error);
}
