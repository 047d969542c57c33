import { type Asking, lookupOf, waitsFor } from "../../catalog/lookup.ts";
import {
  type Detail,
  type Feed,
  fixedPaths,
  type IdentityEndpoint,
  type Listing,
  type Scan,
  type Snapshot,
  type Stream,
} from "../../catalog/stream.ts";
import type { Company, Config } from "../../config/config.ts";
import { ApiError, ConfigError } from "../../errors.ts";
import { textOf, valueAt } from "../../rows/encode_value.ts";
import type { Api, Query } from "../../source/api.ts";
import { buildPath, PathError } from "../../source/path.ts";
import { type FirstPage, firstPage } from "../../sync/extract/listing.ts";
import { besideRows, insteadOfRows, placeOfRows, sectionsIn } from "../../sync/extract/rows_in_answer.ts";
import { fieldOf, openClient, type ServiceTools } from "../../sync/run/service.ts";
import { parameterColumns } from "../../sync/stream/detail_request.ts";
import { questionsOf } from "../../sync/stream/lookups.ts";
import { choicesOf } from "../../sync/stream/snapshot.ts";
import { type CheckLine, doubt, failure, ok, warning } from "./line.ts";
import { checkMessages } from "./messages.ts";

type Row = Record<string, unknown>;

export interface ServiceCheck {
  readonly company: Company;
  readonly settings: Config["api"];
  readonly identity: IdentityEndpoint;
  readonly streams: readonly Stream[];
  readonly askingOf: (stream: string) => Asking;
  readonly tools: ServiceTools;
}

/** Looks at the key, the clock, and one page or detail of every stream. Returns the service's own id of the company. */
export async function* checkService(check: ServiceCheck): AsyncGenerator<CheckLine, string | undefined> {
  const { company, settings, tools } = check;
  try {
    await using api = await openClient(company, settings, tools);
    return yield* askService(check, api);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    yield failure("api key", error);
    return undefined;
  }
}

async function* askService(
  { company, identity, streams, askingOf, tools }: ServiceCheck,
  api: Api,
): AsyncGenerator<CheckLine, string | undefined> {
  const ask = () => api.get(identity.path, {}, { signal: tools.signal });
  let companyId: string | undefined;
  try {
    const answer = await ask();
    companyId = fieldOf(answer.data, identity.id);
    const owner = { name: fieldOf(answer.data, identity.name), id: companyId };
    yield ok("api key", checkMessages.key_belongs({ company: company.name, ...owner, base_url: company.baseUrl }));
    const clock = await clockLine(api, ask);
    yield clock;
    if (clock.level === "fail") return companyId;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.failure !== "forbidden" && error.failure !== "not_found") {
      yield failure("api key", error);
      return undefined;
    }
    yield warning("api key", checkMessages.key_owner_unknown({ status: error.status, base_url: company.baseUrl }));
  }
  yield* askStreams(api, streams, askingOf, tools);
  return companyId;
}

/** Where the clocks differ, a second answer decides. */
async function clockLine({ stats }: Api, ask: () => Promise<unknown>): Promise<CheckLine> {
  try {
    if (stats.clock?.isApart === true) await ask();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return failure("clock", error);
  }
  const off_ms = stats.clock?.offMs;
  return ok("clock", off_ms === undefined ? checkMessages.clock_unknown() : checkMessages.clock({ off_ms }));
}

async function* askStreams(
  api: Api,
  streams: readonly Stream[],
  askingOf: ServiceCheck["askingOf"],
  tools: ServiceTools,
): AsyncGenerator<CheckLine> {
  const firstRows = new Map<string, Row | undefined>();
  for (const stream of streams) {
    const { mode } = stream;
    try {
      if (mode.kind === "snapshot") yield await askSnapshot(api, stream, mode, askingOf(stream.name), tools);
      else if (mode.kind === "scan" && mode.lookup !== undefined)
        yield await askLookup({ ...tools, api }, stream, mode, streams, askingOf(stream.name));
      else if (mode.kind !== "detail") yield await askList(api, stream, mode, tools, firstRows);
      else if (!isList(streams.find(({ name }) => name === mode.of)))
        yield ok(stream.name, checkMessages.depends_on_values({ stream: mode.of }));
      else if (!firstRows.has(mode.of)) yield warning(stream.name, checkMessages.list_not_read({ list: mode.of }));
      else yield await askDetail(api, stream, streams, tools, firstRows.get(mode.of));
    } catch (error) {
      if (error instanceof PathError)
        yield warning(stream.name, checkMessages.path_not_possible({ reason: error.message }));
      else if (error instanceof ApiError && error.failure === "not_found" && asksForOne(stream))
        yield doubt(stream.name, error);
      else yield failure(stream.name, error);
    }
  }
}

async function timed<T>({ clock }: ServiceTools, ask: () => Promise<T>) {
  const begun = clock.now();
  const answer = await ask();
  return { answer, took_ms: clock.now() - begun };
}

async function askOnce(name: string, api: Api, path: string, query: Query, tools: ServiceTools): Promise<CheckLine> {
  const { took_ms } = await timed(tools, () => api.get(path, query, { signal: tools.signal }));
  return ok(name, checkMessages.answered({ path, took_ms }));
}

async function askList(
  api: Api,
  { name, path, query }: Stream,
  mode: Scan | Feed,
  tools: ServiceTools,
  firstRows: Map<string, Row | undefined>,
): Promise<CheckLine> {
  const { signal } = tools;
  const { answer: page, took_ms } = await timed(tools, () =>
    firstPage(mode, query, (few, paged) => api.get(path, few, { signal, paged }), 1),
  );
  const rows = rowsOf(page, mode, path);
  firstRows.set(name, rows[0]);
  return ok(name, checkMessages.list_answered({ path, took_ms, rows: page.total, empty: rows.length === 0 }));
}

async function askSnapshot(
  api: Api,
  { name, path, query }: Stream,
  mode: Snapshot,
  asking: Asking,
  tools: ServiceTools,
): Promise<CheckLine> {
  return askOnce(name, api, path, { ...query, ...choicesOf(mode, asking)[0] }, tools);
}

/** Tries the first request; values of a lookup may come from tables that are not loaded yet. */
async function askLookup(
  tools: ServiceTools & { readonly api: Api },
  stream: Stream,
  mode: Scan,
  streams: readonly Stream[],
  asking: Asking,
): Promise<CheckLine> {
  const place = { looked: undefined, company: "", catalogue: streams };
  const { asked, unusable } = await questionsOf(place, stream, mode, asking);
  const [first] = asked;
  if (first === undefined)
    return ok(stream.name, unusable[0] ?? checkMessages.values_not_loaded({ tables: waitsFor(stream, asking) }));
  return askOnce(stream.name, tools.api, first.path, first.query, tools);
}

const isList = (stream: Stream | undefined): boolean => stream?.mode.kind === "scan" || stream?.mode.kind === "feed";

/** Where a 404 may be about what was asked for, not about the endpoint. */
const asksForOne = (stream: Stream): boolean => stream.mode.kind === "detail" || lookupOf(stream) !== undefined;

function rowsOf({ data }: FirstPage, { rows: field, absence }: Listing, path: string): readonly Row[] {
  const sections = sectionsIn(data, field, absence !== "left");
  if (sections !== undefined) return sections.flatMap(section => section.rows.map(besideRows));
  const facts = { place: placeOfRows(field), path, got: insteadOfRows(data, field) };
  throw new ApiError(checkMessages.rows_not_found(facts), { failure: "malformed", path });
}

async function askDetail(
  api: Api,
  stream: Stream,
  streams: readonly Stream[],
  tools: ServiceTools,
  row: Row | undefined,
): Promise<CheckLine> {
  const { name, path, query, mode } = stream;
  if (mode.kind !== "detail" || row === undefined) return ok(name, checkMessages.list_empty());
  const columns = streams.find(other => other.name === mode.of)?.tables.main.columns ?? [];
  const values = Object.entries(parameterColumns(stream, mode)).map(([parameter, column]) => {
    const source = columns.find(candidate => candidate.name === column)?.path ?? [column];
    return [parameter, textOf(valueAt(source, row)) ?? ""] as const;
  });
  if (mode.only !== undefined && !matches(columns, mode.only, row))
    return ok(name, checkMessages.first_row_unfit({ list: mode.of, column: undefined }));
  const empty = values.find(([, value]) => value === "");
  if (mode.by !== undefined && empty !== undefined)
    return ok(name, checkMessages.first_row_unfit({ list: mode.of, column: mode.by }));
  const built = buildPath(path, Object.fromEntries(values), fixedPaths(streams));
  return askOnce(name, api, built, query ?? {}, tools);
}

function matches(columns: Stream["tables"]["main"]["columns"], only: NonNullable<Detail["only"]>, row: Row): boolean {
  const column = columns.find(candidate => candidate.name === only.column);
  return column !== undefined && textOf(valueAt(column.path, row)) === only.value;
}
