import {
  hasText,
  type Meaning,
  type MeaningTests,
  meaningSql,
  type ReadMeaning,
  readMeanings,
  ruleLine,
  ruleSql,
} from "../catalog/meaning.ts";
import type { Stream } from "../catalog/stream.ts";
import type { WarehouseReading } from "../warehouse/connect/reading.ts";
import { quotedName } from "../warehouse/database.ts";
import { columnsIn } from "../warehouse/ddl/database_catalog.ts";
import { ask, atOneMoment } from "../warehouse/read/question.ts";
import { analyticsSchema } from "../warehouse/views/view.ts";

export interface MeaningsOrder {
  readonly meanings: readonly Meaning[];
  readonly catalogue: readonly Stream[];
  readonly tests: MeaningTests;
  readonly companies: readonly string[];
}

export interface SeenMeaning {
  readonly meaning: string;
  readonly table: string;
  readonly taken_for: string;
  readonly left_out_of: string | null;
  readonly rows: number;
  readonly yes: number;
  readonly no: number;
  readonly not_known: number;
  readonly rules: readonly { readonly line: string; readonly touched: number }[];
  /** The most frequent values of the columns that say it, or may. */
  readonly columns: readonly {
    readonly column: string;
    readonly values: readonly SeenValue[];
    readonly more: boolean;
  }[];
}

/** A value in small letters, without blanks around it; how many rows bear it, and how many of them have the meaning, for whatever reason. */
export interface SeenValue {
  readonly value: string | null;
  readonly rows: number;
  readonly yes: number;
}

const MOST_VALUES = 20;
const ALIASES = { own: "r", beside: "b" };

/** Looks at the values that meanings are read from. Those of tables that were never loaded are left out. */
export async function seenMeanings(reading: WarehouseReading, order: MeaningsOrder): Promise<readonly SeenMeaning[]> {
  return atOneMoment(reading, async db => {
    const there = await columnsIn(db, analyticsSchema(reading.schema));
    const seen: SeenMeaning[] = [];
    for (const meaning of readMeanings(order.meanings, order.catalogue, order.tests))
      if (there.has(meaning.table))
        seen.push(await seenMeaning(text => ask(db, text), meaning, fromOf(reading, order, meaning, there)));
    return seen;
  });
}

type Query = (text: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;

async function seenMeaning(query: Query, meaning: ReadMeaning, from: From): Promise<SeenMeaning> {
  const is = meaningSql(meaning, from.aliases);
  const touched = meaning.rules.map(rule => `count(*) filter (where ${ruleSql(rule, from.aliases)?.holds ?? "false"})`);
  const counted = ["count(*)", `count(*) filter (where ${is})`, `count(*) filter (where not ${is})`, ...touched];
  const [counts = {}] = await query(
    `select ${counted.map((each, at) => `${each} as n${at}`).join(", ")} from ${from.rows}`,
  );
  const [rows = 0, yes = 0, no = 0, ...rules] = counted.map((_, at) => Number(counts[`n${at}`]));
  const columns: SeenMeaning["columns"][number][] = [];
  for (const column of from.texts) {
    const found = await query(
      `select nullif(lower(trim(r."${column}")), '') as value, count(*) as n, count(*) filter (where ${is}) as yes
      from ${from.rows} group by 1 order by 2 desc, 1 nulls last limit ${MOST_VALUES + 1}`,
    );
    const values = found.map(row => ({
      value: row["value"] as string | null,
      rows: Number(row["n"]),
      yes: Number(row["yes"]),
    }));
    columns.push({ column, values: values.slice(0, MOST_VALUES), more: values.length > MOST_VALUES });
  }
  return {
    meaning: meaning.name,
    table: meaning.table,
    taken_for: meaning.rows,
    left_out_of: meaning.leftOutOf ?? null,
    ...{ rows, yes, no, not_known: rows - yes - no },
    rules: meaning.rules.map((rule, at) => ({ line: ruleLine(meaning, rule), touched: rules[at]! })),
    columns,
  };
}

/** Where the rows of a meaning are: SQL that goes into `from`, and what is in it. */
interface From {
  readonly rows: string;
  readonly aliases: { readonly own: string; readonly beside?: string };
  /** Columns whose values are shown: no personal ones, whatever is stored of them. */
  readonly texts: readonly string[];
}

function fromOf(
  { schema }: WarehouseReading,
  { catalogue, companies }: MeaningsOrder,
  meaning: ReadMeaning,
  there: ReadonlyMap<string, ReadonlySet<string>>,
): From {
  const { table, beside, candidates, withDeleted } = meaning;
  const place = quotedName(withDeleted ? schema : analyticsSchema(schema));
  const own = catalogue.flatMap(({ tables }) => [tables.main, ...tables.children]).find(each => each.name === table)!;
  const isBeside = beside !== undefined && there.has(beside);
  const besides = catalogue.find(({ tables }) => tables.main.name === beside)?.tables.main.key[0];
  const join = isBeside
    ? ` left join ${place}.${quotedName(beside)} b on b._company = r._company and b."${besides}" = r."${besides}"`
    : "";
  const literals = companies.map(company => `'${company.replaceAll("'", "''")}'`).join(", ");
  const tested = meaning.rules.filter(({ isBeside }) => !isBeside).map(({ column }) => column.name);
  const shown = own.columns.filter(column => hasText(column) && column.personal !== true).map(column => column.name);
  return {
    rows: `(select * from ${place}.${quotedName(table)} where _company in (${literals})) r${join}`,
    aliases: isBeside ? ALIASES : { own: ALIASES.own },
    texts: [...new Set([...tested, ...candidates])].filter(
      column => shown.includes(column) && there.get(table)!.has(column),
    ),
  };
}
