import { type Models, placed, type Readings } from "../../catalog/model.ts";
import { DestinationError } from "../../errors.ts";
import type { WarehouseReading } from "../../warehouse/connect/reading.ts";
import { holdModels } from "../../warehouse/read/held_models.ts";
import { askFor, holdingAtOneMoment, unlessBeyond } from "../../warehouse/read/question.ts";
import { analyticsSchema } from "../../warehouse/views/view.ts";
import { reportMessages } from "../messages.ts";
import type { Block, Field, Figure, Message, Question, Report, Section } from "./definition.ts";
import { canonicalNumber, isNumeric, type Row, type Value } from "./format.ts";
import { isDoubtful } from "./meanings_read.ts";
import { type Lack, type Lacks, lacksOf } from "./missing_models.ts";
import { type Period, periodUpTo } from "./period.ts";

interface Subject {
  readonly company: string;
  readonly period: Period;
}

/** Undefined where values are beyond what the database can count with. */
type Ask = (question: string, subject: Subject, most: number) => Promise<readonly Row[] | undefined>;

/** A question's answer, or what keeps it from being asked. `more`: rows beyond these were left out. */
export interface Answer {
  readonly rows: readonly Row[];
  readonly more: boolean;
  readonly lack: Lack | undefined;
}

export interface AnsweredSection {
  readonly section: Section;
  readonly blocks: readonly { readonly block: Block; readonly answer: Answer }[];
}

/** How fresh a stream's rows are. Moments are ISO 8601. */
export interface Source {
  readonly stream: string;
  readonly completeTo: string | undefined;
  readonly lastSuccessAt: string | undefined;
  readonly lastStatus: string | undefined;
  readonly on: boolean;
}

/** A message, and its rows that have something at stake. */
export interface Told {
  readonly message: Message;
  readonly rows: readonly Row[];
}

export interface CompanyContents {
  readonly company: string;
  readonly sources: readonly Source[];
  readonly opening: Told;
  /** Those with something at stake, the most first; amounts of currencies are not compared: these take turns. */
  readonly messages: readonly Told[];
  readonly figures: readonly { readonly figure: Figure; readonly answer: Answer }[];
  /** What the meanings that figures are read by take in. */
  readonly assumptions: readonly Row[];
  readonly sections: readonly AnsweredSection[];
}

export interface Contents {
  readonly title: string;
  readonly period: Period;
  readonly companies: readonly CompanyContents[];
  readonly lacks: Lacks;
}

/** What is read: `months` before the present one, models as this version knows them and the configuration reads them. */
export interface Reading extends Omit<Models, "meanings">, Omit<Readings, "schema"> {
  readonly companies: readonly string[];
  readonly months: number;
  readonly redact: (text: string) => string;
}

const MOST = 500;

export const modelsRead = (report: Report): readonly string[] => [
  ...new Set(questionsOf(report).flatMap(question => modelsIn(question, report))),
];

/** In the order in which the question names them. */
const modelsIn = ({ sql }: Question, { writtenFor }: Report): readonly string[] =>
  [...sql.matchAll(new RegExp(`\\b${analyticsSchema(writtenFor.schema)}\\.(\\w+)`, "g"))].map(([, model]) => model!);

function questionsOf({
  calendar,
  currencies,
  freshness,
  assumptions,
  opening,
  messages,
  figures,
  sections,
}: Report): readonly Question[] {
  const blocks = sections.flatMap(section => section.blocks);
  return [calendar, currencies, freshness, assumptions, opening, ...messages, ...figures, ...blocks];
}

/** Reads all figures of a report in one transaction. @throws DestinationError where the views are missing or may not be read */
export async function readContents(warehouse: WarehouseReading, report: Report, reading: Reading): Promise<Contents> {
  const { schema, stateSchema } = warehouse;
  const views = analyticsSchema(schema);
  const places = {
    [analyticsSchema(report.writtenFor.schema)]: views,
    [report.writtenFor.schema]: schema,
    [report.writtenFor.stateSchema]: stateSchema,
  };
  return holdingAtOneMoment(warehouse, async (trx, holds) => {
    const needed = modelsRead(report);
    const lacks = await lacksOf({ ...warehouse, db: trx }, views, needed, reading.models);
    const { dialect } = warehouse;
    const held = holds
      ? await holdModels(
          trx,
          dialect,
          warehouse,
          { ...reading, schema: views },
          {
            wanted: report.holds,
            questions: questionsOf(report).map(({ sql }) => sql),
          },
        )
      : undefined;
    const written = (text: string) => placed(text, places);
    const ask: Ask = async (question, { company, period }, most) => {
      const { today, from, until, before, month, monthBefore: month_before } = period;
      const days = Object.entries({ today, from, until, before, month, month_before }).map(([name, day]) => [
        name,
        { day },
      ]);
      const meant = { company: { text: company }, ...Object.fromEntries(days) };
      const own = held?.over(written(question)) ?? written(question);
      const rows = await unlessBeyond({ dialect, db: trx }, () => askFor(trx, own, meant, most));
      return rows?.map(row =>
        Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(value, reading.redact)])),
      );
    };
    const period = periodUpTo(await dayOf(report, ask, lacks, views), reading.months);
    const companies = await Array.fromAsync(
      reading.companies,
      async (company): Promise<CompanyContents> => ({
        ...(await readCompany(report, { company, period }, ask, lacks)),
        company: reading.redact(company),
      }),
    );
    await held?.drop();
    return { title: report.title, period, companies, lacks };
  });
}

async function dayOf(report: Report, ask: Ask, lacks: Lacks, views: string): Promise<string> {
  const [lack] = modelsIn(report.calendar, report).flatMap(name => lacks.get(name) ?? []);
  if (lack !== undefined)
    throw new DestinationError(reportMessages.view_unusable({ view: lack.model, schema: views, why: lack.why }));
  // No period is known yet, and none is asked for.
  const subject = { company: "", period: periodUpTo("2000-01-01", 1) };
  const [row] = (await ask(report.calendar.sql, subject, 1)) ?? [];
  return String(row?.["today"]);
}

async function readCompany(report: Report, subject: Subject, ask: Ask, lacks: Lacks): Promise<CompanyContents> {
  const answerTo = async (question: Question, most: number, fields: readonly Field[]): Promise<Answer> => {
    const models = modelsIn(question, report);
    const lack = models.flatMap(name => lacks.get(name) ?? [])[0];
    if (lack !== undefined) return { rows: [], more: false, lack };
    const rows = await ask(question.sql, subject, most + 1);
    if (rows === undefined) return { rows: [], more: false, lack: { model: models[0]!, why: "beyond", tables: [] } };
    return { rows: rows.slice(0, most).map(row => numbered(row, fields)), more: rows.length > most, lack };
  };
  const currencies = (await answerTo(report.currencies, MOST, [])).rows.map(row => row["currency_code"] ?? null);
  const sources = await answerTo(report.freshness, MOST, []);
  const assumptions = (await answerTo(report.assumptions, MOST, [])).rows;
  const tell = async (message: Message): Promise<Told> => {
    const { rows } = await answerTo(message, MOST, messageFields);
    return { message, rows: inOrder(rows, currencies).filter(row => Number(row["amount"]) > 0) };
  };
  const opening = await tell(report.opening);
  const messages = await Array.fromAsync(report.messages, tell);
  const figures = await Array.fromAsync(report.figures, async figure => {
    const answer = await answerTo(figure, MOST, figureFields);
    return { figure, answer: { ...answer, rows: inOrder(answer.rows, currencies) } };
  });
  const answered = async (block: Block) => {
    const answer = await answerTo(block, block.most ?? MOST, block.fields);
    const rows = block.fields[0]?.format === "currency" ? inOrder(answer.rows, currencies) : answer.rows;
    return { block, answer: { ...answer, rows: withShares(rows, block.fields) } };
  };
  const sections = await Array.fromAsync(report.sections, async section => ({
    section,
    blocks: await Array.fromAsync(section.blocks, answered),
  }));
  return {
    ...{ company: subject.company, sources: sources.rows.map(sourceOf), assumptions, opening, figures, sections },
    messages: [false, true].flatMap(doubtful =>
      byStake(
        messages.filter(({ message }) => isDoubtful(message, assumptions) === doubtful),
        currencies,
      ),
    ),
  };
}

/** Those that say something, by the amount of their first row; currencies take turns, the company's main one first. */
function byStake(messages: readonly Told[], currencies: readonly Value[]): readonly Told[] {
  const codeOf = ({ rows }: Told) => rows[0]?.["currency_code"] ?? null;
  const amountOf = ({ rows }: Told) => Number(rows[0]?.["amount"]);
  const place = (told: Told) =>
    currencies.includes(codeOf(told)) ? currencies.indexOf(codeOf(told)) : currencies.length;
  const groups = [
    ...Map.groupBy(
      messages.filter(({ rows }) => rows.length > 0),
      codeOf,
    ).values(),
  ];
  return groups
    .flatMap(group => group.toSorted((a, b) => amountOf(b) - amountOf(a)).map((told, turn) => ({ told, turn })))
    .toSorted((a, b) => a.turn - b.turn || place(a.told) - place(b.told))
    .map(({ told }) => told);
}

const moneyFields = (...names: readonly string[]): readonly Field[] =>
  names.map(name => ({ name, label: name, format: "money" }));
const figureFields = moneyFields("value", "before", "of_all", "amount", "count");
const messageFields = moneyFields("amount", "value", "of_all", "latest", "previous", "subject_amount");

function plain(value: unknown, redact: (text: string) => string): Value {
  if (value === null || value === undefined) return null;
  if (typeof value === "boolean") return value;
  return value instanceof Date ? value.toISOString() : redact(String(value));
}

function numbered(row: Row, fields: readonly Field[]): Row {
  const numbers = fields.flatMap(({ name, format }): [string, Value][] => {
    const value = row[name];
    return isNumeric(format) && typeof value === "string" ? [[name, canonicalNumber(value)]] : [];
  });
  return { ...row, ...Object.fromEntries(numbers) };
}

/** Currencies stand everywhere in the same order: the one with most behind it first, the unknown one where it belongs by that, others by their code. */
function inOrder(rows: readonly Row[], currencies: readonly Value[]): readonly Row[] {
  const codes = rows.map(row => row["currency_code"] ?? null);
  const all = [...currencies, ...codes.filter(code => !currencies.includes(code)).toSorted()];
  const place = (row: Row) => all.indexOf(row["currency_code"] ?? null);
  return rows.toSorted((a, b) => place(a) - place(b));
}

/** Shares that no answer holds: of the sum over the rows of the same currency. */
function withShares(rows: readonly Row[], fields: readonly Field[]): readonly Row[] {
  const shares = fields.flatMap(({ name, of }) => (of === undefined ? [] : [{ name, of }]));
  if (shares.length === 0) return rows;
  const byCurrency = Map.groupBy(rows, row => row["currency_code"] ?? null);
  return rows.map(row => {
    const own = shares.map(({ name, of }): [string, Value] => {
      const alike = byCurrency.get(row["currency_code"] ?? null) ?? [];
      const sum = alike.reduce((total, each) => total + Number(each[of] ?? 0), 0);
      return [name, sum > 0 ? String(Math.round((Number(row[of] ?? 0) / sum) * 1e6) / 1e6) : null];
    });
    return { ...row, ...Object.fromEntries(own) };
  });
}

function sourceOf(row: Row): Source {
  const text = (name: string) => (typeof row[name] === "string" ? row[name] : undefined);
  return {
    stream: text("stream") ?? "",
    completeTo: text("complete_to"),
    lastSuccessAt: text("last_success_at"),
    lastStatus: text("last_run_status"),
    on: row["is_on"] === true,
  };
}
