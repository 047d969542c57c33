import { z } from "zod";
import type { Currency, FieldMeta } from "../src/catalog/columns.ts";

/*
 * The field kinds. A kind says what a value means, and so its SQL type; the service may send any number as a numeral or
 * as a string, one reader takes both. `.nullable()` where the service may answer null, `.describe()` becomes the comment.
 */
const numberOrString = z.union([z.string(), z.number()]);
const string = z.string();

/*
 * A schema never changes, so fields of a kind share one, and one that may be null: what a field says of itself stands on a
 * small object before it. Thousands of schemas of their own took 11 MB of every run.
 */
interface Field {
  readonly shared: z.ZodType;
  readonly facts: FieldMeta;
}

const own: PropertyDescriptorMap & ThisType<Field> = {
  meta: {
    value(more?: FieldMeta) {
      return more === undefined ? this.facts : withFacts(this.shared, more);
    },
  },
  describe: {
    value(description: string) {
      return withFacts(this.shared, { ...this.facts, description });
    },
  },
  nullable: {
    value() {
      return withFacts(orNull(this.shared), this.facts);
    },
  },
};

const before = new Map<z.ZodType, object>();
const nullables = new Map<z.ZodType, z.ZodType>();

function withFacts<T extends z.ZodType>(shared: T, facts: FieldMeta): T {
  const behind = before.get(shared) ?? Object.create(shared, own);
  before.set(shared, behind);
  return Object.assign(Object.create(behind), { shared, facts } satisfies Field);
}

function orNull(schema: z.ZodType): z.ZodType {
  const known = nullables.get(schema) ?? z.nullable(schema);
  nullables.set(schema, known);
  return known;
}

const kinds = {
  id: withFacts(numberOrString, { kind: "id" }),
  text: withFacts(string, { kind: "text" }),
  quantity: withFacts(numberOrString, { kind: "quantity" }),
  count: withFacts(numberOrString, { kind: "count" }),
  percent: withFacts(numberOrString, { kind: "percent" }),
  score: withFacts(numberOrString, { kind: "score" }),
  flag: withFacts(z.boolean(), { kind: "flag" }),
  date: withFacts(string, { kind: "date" }),
  moment: withFacts(string, { kind: "moment" }),
  json: withFacts(z.unknown(), { kind: "json", holds: "object" }),
  list: withFacts(z.unknown(), { kind: "json", holds: "array" }),
  anyJson: withFacts(z.unknown(), { kind: "json" }),
};

/** An identifier: text, whatever its JSON type. */
export const id = () => kinds.id;
export const text = () => kinds.text;
/** An amount of money; `currency` says where its currency stands. DECIMAL(38,9). */
export const money = (currency: Currency) => withFacts(numberOrString, { kind: "money", currency });
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
/** An object that the documents don't describe any further, and an array; a value of another type is a problem. */
export const json = () => kinds.json;
export const list = () => kinds.list;
/** JSON of which the documents don't say the type. */
export const anyJson = () => kinds.anyJson;

/** Not a field of the row but all of it: for answers whose fields the documents don't show. */
export const whole = () => withFacts(z.unknown(), { kind: "json", whole: true });

/** A field that changes by itself: written when it changes, but that is not a change of the row. */
export const volatile = <T extends z.ZodType>(field: T): T => field.meta({ ...field.meta(), volatile: true });
/** A field that says something about a person: an address, a name, a number, what somebody wrote. */
export const personal = <T extends z.ZodType>(field: T): T => field.meta({ ...field.meta(), personal: true });
/** In an array of objects the service's own number or name of the row, such as `line_no`: an id or a text. */
export const lineId = <T extends z.ZodType>(field: T): T => field.meta({ ...field.meta(), identifies: true });
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
