import type { RequestLog } from "../../../simulator/requests.ts";
import type { RunReport } from "../../../src/sync/run/run.ts";
import type { StateTable } from "../../../src/warehouse/state_columns.ts";
import { stateTables } from "../../../src/warehouse/state_tables.ts";
import { type Done, toldBy } from "../engine/job.ts";
import { REGIONS } from "../world/catalogue.ts";
import { isHarmless } from "../world/odd_answers.ts";
import type { Tables } from "../world/tables.ts";
import type { World } from "../world/world.ts";
import type { Row, Stand } from "./stand.ts";
import type { RunStep, Settings, Story } from "./story.ts";

/** What may have come in a run's way that neither its step nor its settings tell. */
export interface InTheWay {
  /** The archive once lost a run. */
  readonly archiveLost?: boolean;
  /** Another company's run beside it may hold the streams of all, to change how titles are treated. */
  readonly treated?: boolean;
  /** A later program may have altered the tables. */
  readonly older?: boolean;
  /** A run before it may have left details to be tried again. */
  readonly detailsFailed?: boolean;
}

const isDeletedOrder = ({ change }: RunStep["during"][number]) => change.what === "delete" && change.list === "orders";

/** Whether something is wrong with the service for which a run may fail; answers that overtake each other are no trouble. */
export const isTroubled = ({ troubles }: RunStep): boolean =>
  Object.keys(troubles).some(name => name !== "latencyJitterMs" && !isHarmless(name));

/** A run in which details may fail: by the service's troubles, or because an order goes amid its pages. */
export const mayFailDetails = (step: RunStep): boolean => isTroubled(step) || step.during.some(isDeletedOrder);

/** Messages that say why a run held something back: its guards, and not the service, made it fail. */
const guards = ["deletes.blocked", "deletes.details_blocked", "deletes.lines_blocked", "deletes.empty_list"];

/** The exit code is one that what happened explains. */
export function unexplained(
  step: RunStep,
  settings: Settings,
  done: Done,
  { archiveLost = false, treated = false, older = false, detailsFailed = false }: InTheWay,
): string[] {
  const { exit, errors } = done;
  const has = (...codes: readonly string[]): boolean => errors.some(({ code }) => codes.includes(code));
  const limited = step.maxTimeMs !== undefined || step.maxRequests !== undefined;
  const troubled = isTroubled(step);
  const struck = step.death !== undefined && step.death.of !== "process";
  const replays = step.command === "replay";
  const explained =
    exit === 0 ||
    (exit === 1 && (troubled || has(...guards, "details.absent_doubted"))) ||
    (exit === 1 && (settings.fewRejects || settings.unknownFields === "fail")) ||
    // An order that goes while its moves are read answers 404 to a further page, which is a failure and not a deletion.
    (exit === 1 && /order_moves: .*RESOURCE_NOT_FOUND/.test(toldBy(done)) && step.during.some(isDeletedOrder)) ||
    (exit === 1 && detailsFailed && has("details.waiting")) ||
    (exit === 2 && older && has("identity.newer_tables")) ||
    (exit === 4 && treated && has("lock.held")) ||
    (exit === 2 && step.command === "backfill") ||
    (exit === 2 && "otherCompany" in step.troubles) ||
    (exit === 5 && (limited || troubled)) ||
    ((exit === 6 || exit === 4) && struck) ||
    (exit === 2 && step.names.length > 0 && has("backfill.no_history")) ||
    // By the clock that a killed run had to itself, an earlier change of privacy is a later one.
    (exit === 2 && has("privacy.replaced")) ||
    (exit === 1 && replays && archiveLost && has("replay.archive_behind")) ||
    // The run before it was killed before the first answer came, or the archive lost the only run.
    (exit === 1 && replays && has("replay.nothing_archived"));
  return explained ? [] : [`${step.command} ended with ${exit}, which nothing explains: ${toldBy(done)}`];
}

/** No page is asked for twice in a scan, no detail twice in a run. */
export function repeats(requests: RequestLog, step: RunStep): string[] {
  const seen = new Map<string, number>();
  for (const { path, query, status } of requests.entries) {
    if (status !== 200) continue;
    const text = `${path}?${new URLSearchParams(query)}`;
    seen.set(text, (seen.get(text) ?? 0) + 1);
  }
  // A backfill reads a feed whole that has no dates: what it misses is looked for once more.
  const most = step.full || step.command === "backfill" ? 2 : 1;
  // A row that is listed is asked for at its address to see whether that answers, and its details are fetched there too.
  const mostOf = (text: string) => (/^\/(orders|parts)\/[^/]+\?$/.test(text) ? most + 1 : most);
  const again = [...seen].filter(([text, count]) => count > mostOf(text) && !text.startsWith("/auth"));
  return again.slice(0, 3).map(([text, count]) => `asked ${count} times for ${text}`);
}

/** Rows that the service has had from the beginning, and that a list which was read to its end does not have. */
export function lost(tables: Tables, world: World, { streams }: RunReport): string[] {
  const faults: string[] = [];
  for (const { stream, status, rejected } of streams) {
    if ((status !== "succeeded" && status !== "warning") || rejected > 0) continue;
    if (stream !== "orders" && stream !== "notes" && stream !== "parts" && stream !== "queue") continue;
    // A list that is null is an empty one: at the first load, and where that was confirmed.
    if (world.served.has(`nullList ${stream}`)) continue;
    const { collection, family } = world.sources[stream];
    const live = new Set<string>();
    for (const row of tables.get(stream)?.values() ?? []) if (row.deletedAt === null) live.add(row.parent);
    for (const { number, insertedAt } of collection.walk(Number.NEGATIVE_INFINITY)) {
      const key = family.key(number);
      if (insertedAt === undefined && !world.removed[stream].has(key) && !live.has(key))
        faults.push(
          `${stream} ${key}: not there, though the service has had it all the time and the list was read to its end`,
        );
    }
  }
  return faults;
}

/** Figures of the day and answers to questions, which the general comparison leaves out. */
export async function faultsOfFigures(story: Story, world: World, stand: Stand, day: string): Promise<string[]> {
  const faults: string[] = [];
  const answer = (path: string) => world.truth.answer(path)?.data as Row;
  const ask = async (sql: string) =>
    ((await stand.look("left", sql)) ?? []).map(row => Object.values(row).map(String).join(" "));
  const differ = (what: string, found: readonly string[], expected: readonly string[]) => {
    if (found.join("|") !== expected.join("|"))
      faults.push(`${what}: the tables have ${found.join("|")}, the service ${expected.join("|")}`);
  };
  if (story.streams.includes("rates")) {
    const expected = ["30", "90"].map(period => {
      const { v, rate } = answer(`/rates?period=${period}`);
      return `${period} ${v} ${Number(rate)}`;
    });
    const sql = `select period, v, cast(rate as double precision) as rate from procurement.rates where _company = 'acme' and observed_on = date '${day}' and _deleted_at is null order by period`;
    differ("rates", await ask(sql), expected);
  }
  if (story.streams.includes("prices")) {
    const expected = REGIONS.flatMap(region =>
      ((answer(`/prices?region=${region}`)?.["prices"] ?? []) as Row[]).map(
        row => `${region} ${row["price_id"]} ${row["v"]} ${Number(row["amount"])}`,
      ),
    );
    const sql =
      "select region, price_id, v, cast(amount as double precision) as amount from procurement.prices where _company = 'acme' and _deleted_at is null order by region, price_id";
    differ("prices", await ask(sql), expected);
  }
  return faults;
}

/** What readers are told of a table, how many rows it has and how many of them are live, is what is there. */
export async function faultsOfTableCounts(stand: Stand, tables: Tables, company: string): Promise<string[]> {
  // A run may have died before it made any.
  if (tables.size === 0) return [];
  const told = await stand.look(
    "left",
    `select table_name as t, rows as n, live_rows as l from _tributary.streams where company = '${company}'`,
  );
  return (told ?? []).flatMap(({ t, n, l }) => {
    const own = [...(tables.get(String(t))?.values() ?? [])];
    const live = own.filter(row => row.deletedAt === null).length;
    if (!tables.has(String(t)) || (Number(n) === own.length && Number(l) === live)) return [];
    return [`${t}: has ${own.length} rows, ${live} of them live, but readers are told of ${n} and ${l}`];
  });
}

/** Rows of the state that are there twice: DuckDB has no keys that would forbid it. */
export async function faultsOfState(stand: Stand): Promise<string[]> {
  const keys = Object.entries<StateTable>(stateTables).flatMap(([table, { key, digest }]) => {
    const unique = key ?? digest;
    return unique === undefined ? [] : [{ table, unique }];
  });
  const doubled = keys.map(
    ({ table, unique }) => `select '${table}' as name, count(*) as n from (
      select 1 from _tributary."${table}" group by ${unique.map(column => `"${column}"`).join(", ")} having count(*) > 1) d`,
  );
  const rows = (await stand.look("left", doubled.join(" union all "))) ?? [];
  return rows
    .filter(({ n }) => Number(n) > 0)
    .map(({ name, n }) => `_tributary.${name}: ${Number(n)} rows are there more than once`);
}

/** A run over an unchanged service writes nothing. */
export function changesBetween(before: Tables, after: Tables): string[] {
  const faults: string[] = [];
  for (const [name, rows] of after)
    for (const [key, row] of rows)
      if (JSON.stringify(before.get(name)?.get(key)) !== JSON.stringify(row))
        faults.push(`${name} ${key}: written although nothing had changed`);
  return faults;
}

/** Every row that is in a clean warehouse is here, and says the same; what else is live here would not come again. */
export function differences(here: Tables, clean: Tables): string[] {
  const faults: string[] = [];
  for (const [name, rows] of clean) {
    const own = here.get(name);
    for (const [key, row] of rows) {
      const ours = own?.get(key);
      const same = (["strict", "soft", "title", "deletedAt", "problems"] as const).every(of => ours?.[of] === row[of]);
      if (!same) faults.push(`${name} ${key}: a clean warehouse has it otherwise`);
    }
    // A snapshot keeps its earlier days.
    if (name === "rates") continue;
    for (const [key, row] of own ?? [])
      if (row.deletedAt === null && !rows.has(key)) faults.push(`${name} ${key}: live, but a clean warehouse lacks it`);
  }
  return faults;
}
