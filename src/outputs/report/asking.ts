import type { WarehouseReading } from "../../warehouse/connect/reading.ts";
import { askFor, unlessBeyond } from "../../warehouse/read/question.ts";
import type { Value } from "./format.ts";
import type { Period } from "./period.ts";

/** A row of an answer: numbers as text, days as `2026-03-01`, moments as ISO 8601. */
export type Row = Readonly<Record<string, Value>>;

export interface Subject {
  readonly company: string;
  readonly period: Period;
}

export interface Asker {
  /** Undefined where values are beyond what the database can count with. */
  ask(question: string, subject: Subject, most: number): Promise<readonly Row[] | undefined>;
}

/** `written`: the question in the names of this warehouse. `redact` is given every text of an answer. */
export function askerOf(
  warehouse: Pick<WarehouseReading, "db" | "dialect">,
  written: (question: string) => string,
  redact: (text: string) => string,
): Asker {
  return {
    async ask(question, { company, period }, most) {
      const { today, from, until, before, month, monthBefore: month_before } = period;
      const days = Object.entries({ today, from, until, before, month, month_before }).map(([name, day]) => [
        name,
        { day },
      ]);
      const meant = { company: { text: company }, ...Object.fromEntries(days) };
      const rows = await unlessBeyond(warehouse, () => askFor(warehouse.db, written(question), meant, most));
      return rows?.map(row =>
        Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(value, redact)])),
      );
    },
  };
}

function plain(value: unknown, redact: (text: string) => string): Value {
  if (value === null || value === undefined) return null;
  if (typeof value === "boolean") return value;
  return value instanceof Date ? value.toISOString() : redact(String(value));
}
