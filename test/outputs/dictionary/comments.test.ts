import { describe, expect, onTestFinished, test } from "vitest";
import { startSimulator } from "../../../simulator/simulator.ts";
import { lookupOf, requiredParameters } from "../../../src/catalog/lookup.ts";
import type { Stream } from "../../../src/catalog/stream.ts";
import { streams } from "../../../streams/index.ts";
import { tellingWords } from "../../schemas/telling.ts";
import { bench } from "../../support/run.ts";
import { eitherWarehouse, type View } from "../../support/warehouse.ts";

interface Commented {
  readonly place: string;
  readonly name: string;
  readonly comment: string | null;
  readonly is_column: boolean;
}

/** Every table, view and column of every schema but the database's own, by the database's own account. */
const inDuckdb = `
  select schema_name || '.' || table_name as place, table_name as name, comment, false as is_column from duckdb_tables()
    where database_name = current_database()
  union all select schema_name || '.' || view_name, view_name, comment, false from duckdb_views()
    where database_name = current_database() and not internal
  union all select schema_name || '.' || table_name || '.' || column_name, column_name, comment, true from duckdb_columns()
    where database_name = current_database() and not internal`;

const inPostgres = `
  select n.nspname || '.' || c.relname || coalesce('.' || a.attname, '') as place, coalesce(a.attname, c.relname)::text as name,
    case when a.attnum is null then obj_description(c.oid, 'pg_class') else col_description(c.oid, a.attnum) end as comment,
    a.attnum is not null as is_column
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  left join lateral (select null::name as attname, null::int2 as attnum union all
    select attname, attnum from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped) a on true
  where c.relkind in ('r', 'p', 'v', 'm') and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')`;

const commented = (view: View) => view.query<Commented>(view.name === "postgres" ? inPostgres : inDuckdb);

/** What a comment says beside where the column comes from and what every column of its sort is told. */
const ownWords = (comment: string) =>
  comment.replace(/ ?API: .*$/, "").replace(/ ?NULL where the service gives none\.$/, "");

/** Every stream is on: lookups are, once they are given values; of one the versions are kept. */
const lookups = streams.filter(stream => lookupOf(stream) !== undefined);
const values = Object.fromEntries(lookups.map(stream => [stream.name, { values: [asked(stream)] }]));
const everything = { views: true, streams: { preset: "all", settings: { ...values, dock_doors: { history: true } } } };

function asked(stream: Stream): Readonly<Record<string, string>> {
  const free = lookupOf(stream)?.passes === true ? ["q"] : [];
  return Object.fromEntries([...requiredParameters(stream), ...free].map(name => [name, "1"]));
}

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("every table and column of every schema says what it is, in more than its own name", async () => {
    const simulator = await startSimulator({ sizes: { orders: 2, invoices: 2, items: 2 } });
    onTestFinished(() => simulator.close());
    const warehouse = await make();
    const { sync } = bench({ simulator, warehouse, config: everything });
    await sync({ names: ["dock_doors"] });
    const all = await warehouse.look(commented);
    const tables = streams.flatMap(({ tables: { main, children } }) => [main, ...children]);
    const places = new Set(all.map(({ place }) => place));
    const wanted = tables.flatMap(({ name, columns }) => columns.map(column => `procurement.${name}.${column.name}`));
    expect(
      wanted.filter(place => !places.has(place)),
      "columns of the catalogue that no table has",
    ).toEqual([]);
    const count = (start: string) => all.filter(({ place }) => place.startsWith(start)).length;
    const few = "the question for comments finds too few columns of";
    expect(count("_tributary."), `${few} _tributary`).toBeGreaterThan(1_000);
    expect(count("procurement_analytics."), `${few} the views`).toBeGreaterThan(3_000);
    expect(count("procurement.dock_doors_versions."), `${few} a table of versions`).toBeGreaterThan(8);

    const mend = "comments are the descriptions in schemas/, in src/warehouse/state_tables.ts and in models/";
    const short = all.filter(({ comment }) => comment === null || comment.trim().length < 20);
    expect(
      short.map(({ place, comment }) => `${place}: ${comment}`),
      `shorter than 20 characters; ${mend}`,
    ).toEqual([]);
    const silent = all.filter(({ name, comment }) => tellingWords(name, ownWords(comment!)).length === 0);
    expect(
      silent.map(({ place, comment }) => `${place}: ${comment}`),
      `only words of the name; ${mend}`,
    ).toEqual([]);
    const open = all.filter(({ comment }) => !/[.!?]$|API: [\w.]+$/.test(comment!));
    expect(
      open.map(({ place, comment }) => `${place}: ${comment}`),
      `not a sentence; ${mend}`,
    ).toEqual([]);
  });
});
