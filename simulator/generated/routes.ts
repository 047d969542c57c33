import { DAY_MS } from "../calendar.ts";
import type { Entry } from "../collection.ts";
import type { Company } from "../company/company.ts";
import { type Endpoint, elementsOf, endpoints, type Field, fieldsOf } from "../documented.ts";
import { answerOf } from "../endpoints/lists.ts";
import { type PagingMode, pageOf } from "../paging.ts";
import { hash } from "../random.ts";
import { notFound } from "../refusal.ts";
import type { Request, Route } from "../routes.ts";
import { atTheHead, type Family, patchedWith, type Row, type Source } from "../source.ts";
import { Values } from "../values.ts";
import { textHash } from "../vocabulary/text_hash.ts";
import { freeObject, keyField, keyOf, objectOf, type Subject, totalOf } from "./answers.ts";

/** The company that answers are generated for, with its written lists. */
interface World {
  readonly company: Company;
  readonly mode: PagingMode;
  readonly sources: Readonly<Record<string, Source>>;
  /** Rows that the control can change; `size` of them to begin with. */
  readonly source: (family: Family, size: number) => Source;
}

/** The fields of a list's rows, and in which fields of the data they stand; "" where the data itself is the list. */
interface Listed {
  readonly row: readonly Field[];
  readonly names: readonly string[];
}

/** By which of its fields a list's window is taken. */
const DATED = ["received_at", "created_at", "ts", "detected_at"];

/**
 * Every documented endpoint that none of the written routes serves, from its documented shape alone: lists whose rows the
 * control can change, under the name of their path, and all other answers.
 */
export function generatedEndpoints(world: World, written: readonly Route[]) {
  const left = endpoints.filter(({ path }) => !written.some(({ template }) => template === path));
  const sources: Record<string, Source> = {};
  for (const endpoint of left) {
    const listed = listedIn(endpoint);
    if (listed !== undefined && !endpoint.path.includes("{"))
      sources[endpoint.path] = listSource(world, endpoint.path, listed);
  }
  const routes = left.map(endpoint => {
    const listed = listedIn(endpoint);
    return listed === undefined
      ? single(world, endpoint, sources)
      : list(world, endpoint, listed, sources[endpoint.path]);
  });
  return { sources, routes };
}

/** An endpoint with pages is a list, and so is one without parameters that has little beside one array of objects. */
function listedIn(endpoint: Endpoint): Listed | undefined {
  const { shape, paged, path } = endpoint;
  const row = elementsOf(shape ?? undefined);
  if (row !== undefined) return { row, names: [""] };
  const all = fieldsOf(endpoint);
  const arrays = all.filter(({ node }) => elementsOf(node) !== undefined);
  const fields = elementsOf(arrays[0]?.node);
  const isList = paged || (arrays.length === 1 && all.length <= 3 && !path.includes("{"));
  return isList && fields !== undefined ? { row: fields, names: arrays.map(({ name }) => name) } : undefined;
}

function listSource({ company, source }: World, path: string, { row }: Listed, given: Row = {}): Source {
  const { orders } = company.sizes;
  const size = orders === 0 ? 0 : 3 + (textHash(path) % Math.min(400, Math.ceil(orders / 2)));
  const key = keyField(row);
  const kind = path.split("/").findLast(segment => !segment.startsWith("{")) ?? "";
  const text = (number: number): string | number =>
    key === undefined ? number : keyOf(company, key, kind, number, String(number));
  const family: Family = {
    path,
    keyField: key?.name ?? "",
    key: number => String(text(number)),
    number: id => {
      const number = Number(/\d+/.exec(id)?.[0] ?? Number.NaN);
      return String(text(number)) === id ? number : Number.NaN;
    },
    row: entry =>
      objectOf(company, row, {
        ...subjectOf(company, path, entry, size),
        given: key === undefined ? given : { ...given, [key.name]: text(entry.number) },
      }),
    ranks: atTheHead,
  };
  return source(family, size);
}

/** A row of a list; the base rows are spread evenly over the company's history, the newest first. */
function subjectOf(company: Company, path: string, { number, revision, insertedAt }: Entry, size: number): Subject {
  const identity = hash(company.seed, textHash(path), number);
  const step = (company.historyDays * DAY_MS) / Math.max(1, size);
  const age = (size - number + (identity % 900) / 1000) * step;
  const at = insertedAt ?? Math.floor(company.anchorDay * DAY_MS - age) - 1000;
  return { identity, revision, label: String(number), at, given: {} };
}

function list(world: World, endpoint: Endpoint, listed: Listed, known: Source | undefined): Route {
  const { company, mode } = world;
  const { path: template, paged, query: names } = endpoint;
  const own = new Map<string, Source>();
  const sourceFor = ({ path, params }: Request): Source => {
    const source = known ?? own.get(path) ?? listSource(world, path, listed, params);
    if (known === undefined) own.set(path, source);
    return source;
  };
  const beside = fieldsOf(endpoint).filter(({ name }) => !listed.names.includes(name));
  const total = beside.find(({ name }) => name === "total");
  const filters = names.filter(name => listed.row.some(field => field.name === name));
  const dated = DATED.find(name => listed.row.some(field => field.name === name));
  return {
    template,
    answer: request => {
      const source = sourceFor(request);
      const { query, faults } = request;
      const keep = (row: Row): boolean =>
        filters.every(name => query[name] === undefined || String(row[name]) === query[name]) &&
        inWindow(dated === undefined ? null : row[dated], query);
      const all = (): Row[] =>
        Array.from(source.listing.walk(Number.NEGATIVE_INFINITY), entry => source.row(entry, faults)).filter(keep);
      const page = paged ? pageOf(source, request, mode, { keep }) : undefined;
      const rows = page?.rows ?? all().slice(0, names.includes("limit") ? Number(query["limit"] ?? 50) : undefined);
      if (listed.names[0] === "") return { ...answerOf({}, page ?? NO_PAGE), data: rows };
      const given = { ...page?.next, ...request.params };
      const data = objectOf(company, beside, { ...about(company, template, request), given }, true);
      if (total !== undefined) data["total"] = totalOf(company, total, all().length);
      for (const name of listed.names) data[name] = rows;
      return page === undefined ? { data } : answerOf(data, page);
    },
  };
}

const NO_PAGE = { rows: [], next: { next_cursor: null, has_more: false }, pagination: undefined };

/** Both dates are calendar days in UTC and belong to the window; rows without a time are outside every window. */
function inWindow(value: unknown, { date_from: from, date_to: to }: Request["query"]): boolean {
  if (from === undefined && to === undefined) return true;
  const at = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return (from === undefined || at >= Date.parse(from)) && (to === undefined || at < Date.parse(to) + DAY_MS);
}

/** When a row came about, UNIX milliseconds. */
function cameAt(row: Row): number | undefined {
  const written = [...DATED, "po_date", "document_date"]
    .map(name => row[name])
    .find(value => typeof value === "string");
  return typeof written === "string" ? Date.parse(written) : undefined;
}

/**
 * An answer that is no list: about a row that its path names, which it repeats as far as their fields have the same names, or
 * about the values in its path and query.
 */
function single({ company, sources }: World, endpoint: Endpoint, generated: Readonly<Record<string, Source>>): Route {
  const { path: template, shape } = endpoint;
  const [base = "", parameter = "", below] = template.split(/\/?[{}]/);
  const all = [...Object.values(generated), ...Object.values(sources)];
  const isNamed = ({ family }: Source) => parameter === "id" || parameter === family.keyField;
  const parent =
    all.find(source => source.family.path === base && isNamed(source)) ??
    Object.values(sources).find(({ family }) => parameter !== "id" && family.keyField === parameter);
  const dataOf = (subject: Subject): Row =>
    shape === null
      ? { settings: freeObject("settings", new Values(subject.identity)), ...subject.given }
      : objectOf(company, fieldsOf(endpoint), subject, true);
  return {
    template,
    answer: request => {
      const subject = about(company, template, request);
      if (parent === undefined) return { data: dataOf(subject) };
      const { family, collection, patches } = parent;
      const key = request.params[parameter] ?? "";
      const entry = collection.get(family.number(key));
      if (entry === undefined) throw notFound(`'${key}'`);
      const row = family.row(entry);
      const given = { ...subject.given, ...row };
      const data = dataOf({ ...subject, revision: entry.revision, at: cameAt(row) ?? subject.at, given });
      return { data: below === "" ? patchedWith(data, patches.get(entry.number)) : data };
    },
  };
}

/** What a request names, in its path and in its query, is given. */
function about({ seed, anchorDay }: Company, template: string, { params, query }: Request): Subject {
  const { cursor: _, limit: __, include_filed: ___, ...named } = query;
  const words = Object.entries({ ...params, ...named }).sort(([a], [b]) => (a < b ? -1 : 1));
  const identity = hash(seed, textHash(template), textHash(JSON.stringify(words)));
  const given = Object.fromEntries(words.map(([name, value]) => [name === "vendorId" ? "vendor_id" : name, value]));
  // "/lineage/finding/{id}" answers with a finding_id.
  const [, kind] = /(\w+?)s?\/\{id\}/.exec(template) ?? [];
  if (kind !== undefined) given[`${kind}_id`] = params["id"] ?? "";
  return { identity, revision: 0, label: String(identity % 1_000_000), at: anchorDay * DAY_MS, given };
}
