import { ConfigError, noting } from "../errors.ts";
import type { Message } from "../message.ts";
import { nearest } from "../nearest_name.ts";
import type { Column, Kind, Table } from "./columns.ts";
import { meaningMessages } from "./messages.ts";
import type { Stream } from "./stream.ts";

/** How a column is read: the sign of a number, whether anything stands there, a flag, or values, in any case, `*` standing for any part. */
export type ColumnTest = "negative" | "positive" | "filled" | boolean | readonly string[];

/** What rows of a table are taken for, though the service's documents don't say which values mean it: credits, for example. */
export interface Meaning {
  readonly name: string;
  readonly table: string;
  /** A table with one row at most for each of that table's, whose columns may be tested too. */
  readonly beside?: string;
  /** What such rows are called, in the plural. */
  readonly rows: string;
  /** The figures that they are left out of, in words. */
  readonly leftOutOf?: string;
  /** Columns whose values may say it; none of them is documented. */
  readonly candidates: readonly string[];
  /** The column with its money. */
  readonly amount: string;
  /** Rows that the service no longer lists count too. */
  readonly withDeleted?: true;
  /** A rule that is true of a larger share of the rows says something else than it was meant to. */
  readonly most: number;
}

/** The tests of each meaning, by column. */
export type MeaningTests = Readonly<Record<string, Readonly<Record<string, ColumnTest>>>>;

/** One test. */
export interface Rule {
  readonly column: Column;
  readonly isBeside: boolean;
  readonly test: ColumnTest;
}

/** A meaning as the configuration reads it. */
export interface ReadMeaning extends Meaning {
  readonly rules: readonly Rule[];
}

const FITTING: Readonly<Record<"text" | "number" | "flag" | "other", readonly string[]>> = {
  text: ["a list of values", "filled"],
  number: ["negative", "positive", "filled"],
  flag: ["true", "false", "filled"],
  other: ["filled"],
};

const sortOf = (kind: Kind): keyof typeof FITTING => {
  if (kind === "id" || kind === "text") return "text";
  if (kind === "flag") return "flag";
  return kind === "date" || kind === "moment" || kind === "json" ? "other" : "number";
};

/**
 * The meanings of these streams' tables, as the configuration reads them. Columns that `privacy` keeps out of the warehouse say nothing.
 * `faults` gets a message for each column that the table doesn't have, or that cannot be tested so: it is left out.
 */
export function readMeanings(
  meanings: readonly Meaning[],
  catalogue: readonly Stream[],
  tests: MeaningTests,
  faults: Message[] = [],
): readonly ReadMeaning[] {
  const tables = new Map(
    catalogue.flatMap(({ tables: { main, children } }) => [main, ...children]).map(table => [table.name, table]),
  );
  return meanings.flatMap(meaning => {
    const own = [meaning.table, meaning.beside ?? ""].flatMap(name => tables.get(name) ?? []);
    if (own[0]?.name !== meaning.table) return [];
    const rules = Object.entries(tests[meaning.name] ?? {}).flatMap(
      ([name, test]) => noting(faults, () => ruleOf(meaning, own, name, test)) ?? [],
    );
    return { ...meaning, rules };
  });
}

function ruleOf(meaning: Meaning, tables: readonly Table[], name: string, test: ColumnTest): readonly Rule[] {
  const key = `meanings.${meaning.name}.${name}`;
  const table = tables.find(({ columns }) => columns.some(column => column.name === name));
  const column = table?.columns.find(each => each.name === name);
  if (column === undefined) {
    const isElsewhere = meaning.beside !== undefined && tables.length === 1;
    if (isElsewhere || tables.some(({ excluded = [] }) => excluded.some(each => each.name === name))) return [];
    const known = tables.flatMap(({ columns }) => columns.map(each => each.name));
    const named = tables.map(each => each.name);
    throw new ConfigError(
      meaningMessages.unknown_column({ key, tables: named, column: name, near: nearest(name, known) }),
    );
  }
  const fitting = FITTING[sortOf(column.kind)];
  if (!fitting.includes(typeof test === "object" ? FITTING.text[0]! : String(test)))
    throw new ConfigError(
      meaningMessages.unfit_test({ key, expected: fitting, kind: column.kind, got: testText(test) }),
    );
  return [{ column, isBeside: table !== tables[0], test }];
}

const testText = (test: ColumnTest): string =>
  typeof test !== "object" ? String(test) : `[${test.map(value => JSON.stringify(value)).join(", ")}]`;

/** The line of the configuration that a rule stands in. */
export const ruleLine = ({ name }: Meaning, { column, test }: Rule): string =>
  `meanings.${name}.${column.name}: ${testText(test)}`;

/** What the rows of a query are called there: those of the meaning's table, and of the one beside it. */
export interface Aliases {
  readonly own: string;
  readonly beside?: string | undefined;
}

/** SQL: true for rows that have the meaning, false for those that don't, null where nothing says it. */
export function meaningSql({ rules }: ReadMeaning, aliases: Aliases): string {
  const seen = rules.flatMap(rule => ruleSql(rule, aliases) ?? []);
  if (seen.length === 0) return "cast(null as boolean)";
  const any = (parts: readonly string[]) => parts.map(part => `(${part})`).join(" or ");
  return `case when ${any(seen.map(({ holds }) => holds))} then true when ${any(seen.map(({ tells }) => tells))} then false end`;
}

/** Everything that is asked of the rows of a table: each meaning as a whole (no column), and each of its rules. */
export function questionsOf(meanings: readonly ReadMeaning[], aliases: Aliases) {
  return meanings.flatMap(meaning => {
    const rules = meaning.rules.flatMap(rule => {
      const seen = ruleSql(rule, aliases);
      const line = ruleLine(meaning, rule);
      return seen === undefined
        ? []
        : [{ meaning, column: rule.column.name, line, sql: `coalesce(${seen.holds}, false)` }];
    });
    return [
      { meaning, column: undefined, line: `meanings.${meaning.name}`, sql: meaningSql(meaning, aliases) },
      ...rules,
    ];
  });
}

/** SQL for SELECT: whether each is true of a row, as `asked_1`, `asked_2` …; `names` are those alone. */
export function askedColumns(
  meanings: readonly ReadMeaning[],
  aliases: Aliases,
): { readonly sql: string; readonly names: string } {
  const all = questionsOf(meanings, aliases).map(({ sql }, at) => ({ sql, name: `asked_${at + 1}` }));
  return {
    sql: all.map(({ sql, name }) => `${sql} as ${name}`).join(",\n"),
    names: all.map(({ name }) => name).join(", "),
  };
}

/** SQL for VALUES over rows with `askedColumns`: meaning, column that is tested (null: all its rules together), line of the configuration, what such rows are left out of, whether it is true. */
export function askedRows(meanings: readonly ReadMeaning[], aliases: Aliases): string {
  return questionsOf(meanings, aliases)
    .map(({ meaning: { name, leftOutOf }, column, line }, at) => {
      const texts = [name, column, line, leftOutOf].map(text =>
        text === undefined ? "cast(null as text)" : literal(text),
      );
      return `(${texts.join(", ")}, asked_${at + 1})`;
    })
    .join(",\n");
}

/** Whether it holds words, not numbers, flags or times. */
export const hasText = ({ kind }: Pick<Column, "kind">): boolean => sortOf(kind) === "text";

/** SQL that is true where a rule is, and SQL that is true where the column says anything; undefined: it isn't there to be asked. */
export function ruleSql({ column, isBeside, test }: Rule, { own, beside }: Aliases) {
  const of = isBeside ? beside : own;
  if (of === undefined) return undefined;
  const value = `${of}."${column.name}"`;
  const tells = sortOf(column.kind) === "text" ? `trim(${value}) <> ''` : `${value} is not null`;
  switch (test) {
    case "negative":
      return { holds: `${value} < 0`, tells };
    case "positive":
      return { holds: `${value} > 0`, tells };
    case true:
      return { holds: value, tells };
    case false:
      return { holds: `not ${value}`, tells };
    case "filled":
      return { holds: tells, tells: "true" };
    default:
      return { holds: test.map(each => matches(`lower(trim(${value}))`, each)).join(" or ") || "false", tells };
  }
}

/** Whether a value, as the service sends it, passes a test. */
export function passes(test: ColumnTest, value: unknown): boolean {
  const text = `${value ?? ""}`.trim().toLowerCase();
  if (typeof test === "boolean") return value === test;
  if (test === "filled") return text !== "";
  if (typeof test === "string") return test === "negative" ? Number(text) < 0 : Number(text) > 0;
  const patterns = test.map(each => each.trim().toLowerCase().split("*").map(RegExp.escape).join(".*"));
  return new RegExp(`^(${patterns.join("|") || "(?!)"})$`, "s").test(text);
}

function matches(value: string, pattern: string): string {
  // In PostgreSQL the database's locale decides whether lower() knows letters beyond ASCII.
  const asciiLower = pattern.toUpperCase().replace(/[A-Z]/g, letter => letter.toLowerCase());
  const spellings = [...new Set([pattern.trim().toLowerCase(), asciiLower.trim()])];
  return spellings
    .map(each =>
      each.includes("*")
        ? `${value} like ${literal(each.replace(/[!%_]/g, "!$&").replaceAll("*", "%"))} escape '!'`
        : `${value} = ${literal(each)}`,
    )
    .join(" or ");
}

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
