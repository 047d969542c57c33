import { z } from "zod";
import type { Currency } from "../src/columns.ts";

/*
 * The field kinds. A kind says what a value means, and so its SQL type; the service may send any number as a numeral or
 * as a string, one reader takes both. `.nullable()` where the service may answer null, `.describe()` becomes the comment.
 */
const numberOrString = z.union([z.string(), z.number()]);
const string = z.string();

// Fields of a kind share one schema, as a schema never changes: seven thousand of their own took a fifth of a run's start.
const kinds = {
  id: numberOrString.meta({ kind: "id" }),
  text: string.meta({ kind: "text" }),
  quantity: numberOrString.meta({ kind: "quantity" }),
  count: numberOrString.meta({ kind: "count" }),
  percent: numberOrString.meta({ kind: "percent" }),
  score: numberOrString.meta({ kind: "score" }),
  flag: z.boolean().meta({ kind: "flag" }),
  date: string.meta({ kind: "date" }),
  moment: string.meta({ kind: "moment" }),
  json: z.unknown().meta({ kind: "json" }),
};

/** An identifier: text, whatever its JSON type. */
export const id = () => kinds.id;
export const text = () => kinds.text;
/** An amount of money; `currency` says where its currency stands. DECIMAL(38,9). */
export const money = (currency: Currency) => numberOrString.meta({ kind: "money", currency });
export const quantity = () => kinds.quantity;
/** A whole number. BIGINT. */
export const count = () => kinds.count;
/** A share, rate or percentage, in the service's own unit. DECIMAL(38,9). */
export const percent = () => kinds.percent;
/** A score or confidence. DOUBLE. */
export const score = () => kinds.score;
export const flag = () => kinds.flag;
/** A calendar date. */
export const date = () => kinds.date;
/** A point in time. TIMESTAMPTZ. */
export const moment = () => kinds.moment;
/** Anything nested that the documents don't describe. */
export const json = () => kinds.json;

/** Not a field of the row but all of it: for answers whose fields the documents don't show. */
export const whole = () => z.unknown().meta({ kind: "json", whole: true });

/** A field that changes by itself: written when it changes, but that is not a change of the row. */
export const volatile = <T extends z.ZodType>(field: T): T => field.meta({ ...field.meta(), volatile: true });
/** A field whose column has another name. */
export const named = <T extends z.ZodType>(column: string, field: T): T => field.meta({ ...field.meta(), column });
/** An array of objects: a child table of that name. */
export const table = <S extends z.ZodRawShape>(name: string, description: string, shape: S) =>
  z.array(z.object(shape)).meta({ table: name, description });
/** A row; the description becomes the table's comment. */
export const record = <S extends z.ZodRawShape>(description: string, shape: S) => z.object(shape).describe(description);

/** Where a money column's currency stands. */
export const inRow = (column: string): Currency => ({ in: "row", column });
export const inTable = (name: string, column: string, by: string): Currency => ({
  in: "table",
  table: name,
  column,
  by,
});
export const inName: Currency = { in: "name" };
export const notGiven: Currency = { in: "unknown" };
