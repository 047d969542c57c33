import { askedColumns, askedRows, type Meaning, meaningSql, type ReadMeaning } from "./meaning.ts";
import type { End } from "./relation.ts";

/** A view that is written as a file: one select, with what it needs and what it says said in comments at its head. */
export interface Model {
  readonly name: string;
  /** For the people who read it; becomes the view's comment. */
  readonly description: string;
  /** Tables and models without which there is no such view. */
  readonly needs: readonly string[];
  /** Tables and models it can do without. */
  readonly optional: readonly string[];
  /** Columns that no two rows have alike; a null is a value here. */
  readonly key: readonly string[];
  /** Columns whose values all stand in a table or another model, within a company. */
  readonly references: readonly { readonly column: string; readonly to: End }[];
  /** In the order of the select, and then those in the reporting currency. */
  readonly columns: readonly ModelColumn[];
  /** The columns that come once more in the reporting currency, by the rate of a day: a column of the row, or today. */
  readonly reported: { readonly columns: readonly string[]; readonly by: string } | undefined;
  readonly parts: readonly ModelPart[];
}

/** All models of a program, what they take rows for, and the names that they call the schemas by. */
export interface Models {
  readonly models: readonly Model[];
  readonly meanings: readonly Meaning[];
  readonly writtenFor: { readonly schema: string; readonly stateSchema: string };
}

export interface ModelColumn {
  readonly name: string;
  readonly description: string;
}

/** Lines that belong together: they stand where all the tables are there (`with`; `not x`: where x is not), or where one of them is not (`without`). */
export interface ModelPart {
  readonly on: { readonly tables: readonly string[]; readonly present: boolean } | undefined;
  readonly text: string;
}

/** The schemas by the names that models are written with, and those that they are to be read with. */
export type Places = Readonly<Record<string, string>>;

const DIRECTIVE = /^--\s*(with|without)\s+((?:not )?\w+(?:\s*,\s*(?:not )?\w+)*)\s*$/;
const END = /^--\s*end\s*$/;
const TODAY = "today";
const NAME = /^[a-z][a-z0-9_]*$/;

/** Reads a model's file. @throws TypeError that names the file, the line, and what was expected there */
export function parseModel(name: string, text: string): Model {
  const lines = text.split(/\r?\n/);
  const wrong = (at: number, what: string) => new TypeError(`models/${name}.sql, line ${at + 1}: ${what}`);
  if (!NAME.test(name)) throw new TypeError(`models/${name}.sql: a model's name is lower case: letters, digits, _`);
  const bodyAt = lines.findIndex(line => line.trim() !== "" && (!line.startsWith("--") || DIRECTIVE.test(line)));
  if (bodyAt < 0) throw new TypeError(`models/${name}.sql: expected a select after the comments, found none`);
  return { name, ...headOf(lines.slice(0, bodyAt), wrong), parts: partsOf(lines, bodyAt, wrong) };
}

type Wrong = (at: number, what: string) => TypeError;

function headOf(lines: readonly string[], wrong: Wrong): Omit<Model, "name" | "parts"> {
  const description: string[] = [];
  const lists = { needs: [] as string[], optional: [] as string[], key: [] as string[] };
  const references: { column: string; to: End }[] = [];
  const columns: { name: string; description: string }[] = [];
  let reported: Model["reported"];
  for (const [at, line] of lines.entries()) {
    const said = line.replace(/^--\s*/, "").trim();
    if (said === "") continue;
    const list = /^(needs|optional|key):\s*(.*)$/.exec(said);
    const reference = /^references:\s*(\w+)\s*->\s*(\w+)\.(\w+)$/.exec(said);
    const column = /^column\s+(\w+):\s*(.*)$/.exec(said);
    const [twins, by] = said.startsWith("reported:") ? said.slice("reported:".length).split(" by ") : [];
    if (twins !== undefined && by === undefined) throw wrong(at, "expected `reported: <columns> by <day>`");
    if (twins !== undefined && by !== undefined) reported = { columns: namesIn(twins), by: by.trim() };
    else if (list !== null) lists[list[1] as keyof typeof lists].push(...namesIn(list[2]!));
    else if (reference !== null)
      references.push({ column: reference[1]!, to: { table: reference[2]!, columns: [reference[3]!] } });
    else if (column !== null) {
      if (column[2] === "") throw wrong(at, `column ${column[1]} has no description`);
      if (columns.some(({ name }) => name === column[1])) throw wrong(at, `column ${column[1]} stands here twice`);
      columns.push({ name: column[1]!, description: column[2]! });
    } else if (columns.length > 0) {
      const last = columns.at(-1)!;
      last.description = `${last.description} ${said}`;
    } else description.push(said);
  }
  if (description.length === 0) throw wrong(0, "expected a description in the first comment");
  if (columns.length === 0)
    throw wrong(lines.length - 1, "expected a line `-- column <name>: <description>` for each column");
  const head = { description: description.join(" "), ...lists, references, reported };
  if (reported === undefined) return { ...head, columns };
  const { by } = reported;
  const unknown = [...reported.columns, ...(by === TODAY ? [] : [by])].find(
    name => !columns.some(column => column.name === name),
  );
  if (unknown !== undefined) throw wrong(0, `reported: there is no column ${unknown}`);
  const day = by === TODAY ? "today" : by;
  const twin = (name: string) => ({
    name: `${name}_reported`,
    description: `${name} in the reporting currency, by the rate of ${day}; null without one, so that a sum lacks the row: see currency_coverage.`,
  });
  lists.needs.push(
    "currency_rates",
    ...(by === TODAY && !lists.needs.includes("calendar_today") ? ["calendar_today"] : []),
  );
  return { ...head, columns: [...columns, ...reported.columns.map(twin)] };
}

const namesIn = (text: string): string[] =>
  text
    .split(",")
    .map(word => word.trim())
    .filter(word => word !== "");

function partsOf(lines: readonly string[], from: number, wrong: Wrong): readonly ModelPart[] {
  const parts: ModelPart[] = [];
  let on: ModelPart["on"];
  let own: string[] = [];
  const close = () => {
    const text = own.filter(line => line.trim() !== "").join("\n");
    if (text !== "") parts.push({ on, text });
    own = [];
  };
  for (const [offset, line] of lines.slice(from).entries()) {
    const directive = DIRECTIVE.exec(line.trim());
    const isEnd = END.test(line.trim());
    if (directive === null && !isEnd) {
      const kept = on?.present === false ? line.replace(/^\s*--\s*\|\s?/, "") : line;
      if (!/^\s*--/.test(kept)) own.push(kept);
      continue;
    }
    if (isEnd === (on === undefined))
      throw wrong(from + offset, isEnd ? "`-- end` without `-- with …`" : "`-- end` was expected before this");
    close();
    on = directive === null ? undefined : { tables: namesIn(directive[2]!), present: directive[1] === "with" };
  }
  if (on !== undefined) throw wrong(lines.length - 1, "`-- end` was expected");
  close();
  const last = parts.pop()!;
  return [...parts, { ...last, text: last.text.trimEnd().replace(/;$/, "") }];
}

/** What the configuration says of how models are read. */
export interface Readings {
  readonly meanings: readonly ReadMeaning[];
  /** The currency that amounts are shown in beside their own, as its three letters. */
  readonly currency: string | undefined;
  /** Where the views stand. */
  readonly schema: string;
}

export interface Multiplication {
  /**
   * SQL: what two columns of decimals make multiplied, half rounded away from zero at the ninth decimal; null where one is ten
   * billion or more: the product has no room in DuckDB's widest decimal, and would end the whole query.
   */
  product(a: string, b: string): string;
}

/** SQL: whether a product has room in DuckDB's widest decimal. */
export const areFactors = (a: string, b: string): string => `abs(${a}) < 10000000000 and abs(${b}) < 10000000000`;

/**
 * Where a model's text says what rows are taken for, by the alias of the rows and of those of the table beside, where there is
 * one: `{{ meaning('credit', 'i') }}`; `{{ asked('invoices', 'i') }}` for all that is asked of a table, as columns whose names
 * `{{ names('invoices', 'i') }}` lists, and as rows with the lines of the configuration `{{ lines('invoices', 'i') }}`. And an
 * amount in the reporting currency, by the aliases of a row with its currency_code and of one of currency_rates:
 * `{{ reported('i.total_amount', 'c', 'r') }}`. And what two decimals make multiplied, to nine decimals:
 * `{{ product('l.quantity', 'l.price') }}`.
 */
const PLACEHOLDER = /\{\{ (meaning|asked|names|lines|reported|product)\('([\w.]+)', '([\w.]+)'(?:, '(\w+)')?\) \}\}/g;

/**
 * A model's text where these tables and models are there, with its columns in the reporting currency at the end; `views` is what
 * it calls the schema of the models. Its placeholders and the names of its schemas still stand in it.
 */
export function modelText({ parts, reported }: Model, has: (name: string) => boolean, views: string): string {
  const isSo = (name: string) => (name.startsWith("not ") ? !has(name.slice(4)) : has(name));
  const text = parts
    .filter(({ on }) => on === undefined || on.tables.every(isSo) === on.present)
    .map(part => part.text)
    .join("\n");
  if (reported === undefined) return text;
  const { columns, by } = reported;
  const twins = columns.map(name => `{{ reported('figures.${name}', 'figures', 'rates') }} as ${name}_reported`);
  const day = by === TODAY ? `(select today from ${views}.calendar_today)` : `figures.${by}`;
  return `select figures.*,
${twins.join(",\n")}
from (
${text}
) figures
left join ${views}.currency_rates rates
  on rates.currency_code = figures.currency_code and rates.rate_date = ${day}`;
}

/** Whether a text shows the lines of the configuration themselves, not only what they say. */
export const showsLines = (text: string): boolean =>
  [...text.matchAll(PLACEHOLDER)].some(([, what]) => ["asked", "names", "lines"].includes(what!));

/** The select of a model in a warehouse that has these tables and models, with its schemas under the names they have there. */
export function modelSelect(
  model: Model,
  has: (name: string) => boolean,
  places: Places,
  { meanings, currency, schema, product }: Readings & Multiplication,
): string {
  const read = modelText(model, has, quoted(schema)).replace(
    PLACEHOLDER,
    (_, what: string, name: string, own: string, beside?: string) => {
      if (what === "product") return product(name, own);
      if (what === "reported")
        return currency === undefined ? "cast(null as decimal(38, 9))" : reportedSql(name, own, beside!, currency);
      const meant = meanings.filter(meaning => (what === "meaning" ? meaning.name : meaning.table) === name);
      if (meant.length === 0) throw new TypeError(`models/${model.name}.sql: there is no meaning ${name}`);
      const aliases = { own, beside };
      if (what === "meaning") return meaningSql(meant[0]!, aliases);
      const columns = askedColumns(meant, aliases);
      return what === "lines" ? askedRows(meant, aliases) : what === "asked" ? columns.sql : columns.names;
    },
  );
  return placed(read, places);
}

/**
 * SQL: an amount in the reporting currency, to nine decimals; null without a rate, and where it is larger than DuckDB's widest
 * decimal has room for.
 */
export const reportedSql = (amount: string, row: string, rate: string, currency: string): string =>
  `cast(case when ${row}.currency_code = '${currency}' then ${amount}
    when abs(cast(${amount} as double precision)) * cast(${rate}.factor as double precision) < 10000000000000
      then round(cast(${amount} as decimal(38, 9)) * ${rate}.factor, 9) end as decimal(38, 9))`;

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** SQL with its schemas under the names they have there. */
export const placed = (text: string, places: Places): string =>
  renamed(text, Object.keys(places), (schema, table) => `${quoted(places[schema]!)}.${table}`);

/** SQL with other names for the tables of these schemas. */
export function renamed(
  text: string,
  schemas: readonly string[],
  name: (schema: string, table: string) => string,
): string {
  const longestFirst = [...schemas].sort((a, b) => b.length - a.length);
  // What stands in quotes or behind a comment's dashes is nobody's name.
  const names = new RegExp(`'(?:[^']|'')*'|--[^\\n]*|(?<![\\w."])(${longestFirst.join("|")})\\.(\\w+)`, "g");
  return text.replace(names, (found, schema?: string, table?: string) =>
    schema === undefined ? found : name(schema, table!),
  );
}

/** The models in an order in which each comes after those it reads. @throws TypeError where they read each other in a circle */
export function inDependencyOrder(models: readonly Model[]): readonly Model[] {
  const ordered: Model[] = [];
  const visit = (model: Model, way: readonly string[]): void => {
    if (ordered.includes(model)) return;
    if (way.includes(model.name))
      throw new TypeError(`models read each other in a circle: ${[...way, model.name].join(" → ")}`);
    for (const name of [...model.needs, ...model.optional]) {
      const needed = models.find(other => other.name === name);
      if (needed !== undefined) visit(needed, [...way, model.name]);
    }
    ordered.push(model);
  };
  for (const model of models) visit(model, []);
  return ordered;
}
