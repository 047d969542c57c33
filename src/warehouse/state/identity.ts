import { sql } from "kysely";
import { z } from "zod";
import { ConfigError } from "../../errors.ts";
import type { Message } from "../../message.ts";
import type { Db, Fragment, Schemas } from "../database.ts";
import { altering } from "../ddl/alteration.ts";
import type { Dialect } from "../dialect.ts";
import { factOf, factsOf, keepFact, recordFact } from "./facts.ts";
import { identityMessages, stateMessages } from "./messages.ts";
import { DATA_VERSION } from "./state_ddl.ts";

export interface Identity {
  readonly schema: string;
  /** The release of the program; absent: it writes no rows. */
  readonly program?: string;
  readonly companies: readonly {
    readonly name: string;
    readonly baseUrl: string;
    readonly companyId?: string | undefined;
  }[];
  /** Another address of a company is compared, and recorded, later. */
  readonly acceptsAddress?: boolean | undefined;
}

const storedCompany = z.object({ base_url: z.string(), company_id: z.string().nullable() });
const COMPANY = "company:";
/** The newest program that gave tables another shape. */
const PROGRAM = "program";
/** The newest release that made a table, without its patch level: patches know the same columns. */
const MAKER = "maker";

/**
 * Holds a run to the warehouse it is configured for, and records what is new: schema, companies, their ids. Needs
 * `ensureState` first. @throws ConfigError naming the ways out, before anything is written
 */
export async function checkIdentity(db: Db, dialect: Dialect, identity: Identity): Promise<void> {
  if (freshValues(await compareIdentity(db, identity), identity).length === 0) return;
  // Two first runs that were started together get here side by side: the second finds what the first has recorded.
  await altering(db, dialect, async trx => {
    for (const { key, value } of freshValues(await compareIdentity(trx, identity), identity))
      await keepFact(trx, key, value);
  });
}

/** For tables that are there without a state. @throws ConfigError where the state is in another schema of this database */
export async function refuseOthersTables(db: Db, { schema, stateSchema }: Schemas): Promise<void> {
  const { rows: others } = await sql<{ name: string }>`select table_schema as name from information_schema.columns
    where table_catalog = current_database() and table_name = 'warehouse' and column_name in ('key', 'value')
      and table_schema <> ${stateSchema} group by table_schema having count(*) = 2`.execute(db);
  for (const { name } of others) {
    // Somebody's own table may be called so.
    const facts = await sql<{ value: unknown }>`select value from ${sql.id(name, "warehouse")}
      where cast(key as varchar) = 'schema'`
      .execute(db)
      .catch(() => undefined);
    if (facts?.rows[0]?.value === schema)
      throw new ConfigError(identityMessages.other_state({ schema, kept: name, configured: stateSchema }));
  }
}

/** Throws what `checkIdentity` would refuse, and writes nothing; answers what is recorded. */
export async function compareIdentity(db: Db, identity: Identity): Promise<ReadonlyMap<string, unknown>> {
  const stored = await factsOf(db);
  requireIdentity(stored, identity);
  return stored;
}

/** The same of what was read. */
export function requireIdentity(stored: ReadonlyMap<string, unknown>, identity: Identity): void {
  const [complaint, ...others] = [...schemaComplaints(stored, identity), ...companyComplaints(stored, identity)];
  if (complaint === undefined) return;
  throw new ConfigError(others.length === 0 ? complaint : identityMessages.several({ faults: [complaint, ...others] }));
}

function schemaComplaints(stored: ReadonlyMap<string, unknown>, { schema, program }: Identity): Message[] {
  const complaints: Message[] = [];
  const written = stored.get("version");
  if (typeof written === "number" && written > DATA_VERSION)
    complaints.push(stateMessages.newer_version({ version: written, known_version: DATA_VERSION }));
  for (const key of [PROGRAM, MAKER]) {
    const release = stored.get(key);
    if (typeof release !== "string" || program === undefined || !isNewer(release, program)) continue;
    complaints.push(identityMessages.newer_tables({ altered: key === PROGRAM, release, own_release: program }));
    break;
  }
  const kept = stored.get("schema");
  if (typeof kept === "string" && kept !== schema)
    complaints.push(identityMessages.other_schema({ kept, configured: schema }));
  return complaints;
}

/** By the numbers of the releases: what leads up to one is taken for it. */
function isNewer(one: string, other: string): boolean {
  const [a, b] = [one, other].map(text => text.split(/[-+]/, 1)[0]!);
  return a!.localeCompare(b!, "en", { numeric: true }) > 0;
}

/** Statements that record the program as the one that knows the tables' shape. It was not refused: none newer is recorded. */
export function recordProgram(stateSchema: string, program: string): readonly Fragment[] {
  return recordFact(stateSchema, PROGRAM, program);
}

/** Statements that record the program as one that made tables; as above. */
export function recordMaker(stateSchema: string, program: string): readonly Fragment[] {
  return recordFact(stateSchema, MAKER, program.replace(/^(\d+\.\d+)\..*$/, "$1.0"));
}

function companyComplaints(stored: ReadonlyMap<string, unknown>, { companies, acceptsAddress }: Identity): Message[] {
  const complaints: Message[] = [];
  for (const { name, baseUrl, companyId } of companies) {
    const kept = companyOf(stored, name);
    if (kept !== undefined && kept.base_url !== baseUrl && acceptsAddress !== true)
      complaints.push(identityMessages.other_address({ company: name, kept: kept.base_url, configured: baseUrl }));
    if (kept?.company_id != null && companyId !== undefined && kept.company_id !== companyId)
      complaints.push(
        identityMessages.other_company_id({ company: name, kept_id: kept.company_id, key_id: companyId }),
      );
    if (companyId === undefined) continue;
    const twin = twinOf(stored, name, companyId);
    if (twin !== undefined)
      complaints.push(identityMessages.other_company_name({ company: name, key_id: companyId, kept: twin }));
  }
  return complaints;
}

function companyOf(stored: ReadonlyMap<string, unknown>, name: string): z.infer<typeof storedCompany> | undefined {
  return storedCompany.safeParse(stored.get(`${COMPANY}${name}`)).data;
}

/** Whether a company is among what is recorded. */
export const knows = (stored: ReadonlyMap<string, unknown>, name: string): boolean =>
  companyOf(stored, name) !== undefined;

function twinOf(stored: ReadonlyMap<string, unknown>, name: string, companyId: string): string | undefined {
  const names = [...stored.keys()].filter(key => key.startsWith(COMPANY)).map(key => key.slice(COMPANY.length));
  return names.find(other => other !== name && companyOf(stored, other)?.company_id === companyId);
}

export async function companiesKept(db: Db): Promise<readonly string[]> {
  const rows = await db.selectFrom("warehouse").select("key").orderBy("key").execute();
  return rows.flatMap(({ key }) => (key.startsWith(COMPANY) ? [key.slice(COMPANY.length)] : []));
}

/** What a company is known by; undefined: it is not. */
export async function knownAs(db: Db, company: string): Promise<z.infer<typeof storedCompany> | undefined> {
  return storedCompany.safeParse(await factOf(db, `${COMPANY}${company}`)).data;
}

/** Within a transaction. `companyId`: its id, where that was not known. */
export async function recordAddress(db: Db, company: string, baseUrl: string, companyId?: string): Promise<void> {
  const kept = await knownAs(db, company);
  await keepFact(db, `${COMPANY}${company}`, { base_url: baseUrl, company_id: kept?.company_id ?? companyId ?? null });
}

/** Forgets a company of which no stream is left, so that its name may stand for another service. Answers whether it was. */
export async function forgetCompany(db: Db, company: string): Promise<boolean> {
  const left = await db.selectFrom("streams").select("stream").where("company", "=", company).executeTakeFirst();
  if (left !== undefined) return false;
  await db.deleteFrom("warehouse").where("key", "=", `${COMPANY}${company}`).execute();
  return true;
}

function freshValues(stored: ReadonlyMap<string, unknown>, identity: Identity): { key: string; value: unknown }[] {
  const fresh: { key: string; value: unknown }[] = [];
  if (!stored.has("schema")) fresh.push({ key: "schema", value: identity.schema });
  for (const { name, baseUrl, companyId } of identity.companies) {
    const kept = companyOf(stored, name);
    if (kept !== undefined && kept.base_url !== baseUrl) continue;
    const id = companyId ?? kept?.company_id ?? null;
    if (kept === undefined || kept.company_id !== id)
      fresh.push({ key: `${COMPANY}${name}`, value: { base_url: baseUrl, company_id: id } });
  }
  return fresh;
}
