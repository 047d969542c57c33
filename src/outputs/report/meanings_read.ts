import type { Row } from "./format.ts";

/** A figure with the meanings that decide which rows are in it. */
export interface Read {
  readonly readBy?: readonly string[];
}

/** What is assumed of its rows: lines of `Report.assumptions`. */
export const meaningsOf = ({ readBy = [] }: Read, assumptions: readonly Row[]): readonly Row[] =>
  assumptions.filter(row => readBy.includes(String(row["meaning"])));

/** Whether nothing says it of most rows. */
export const isUnknown = (row: Row): boolean => Number(row["unclear_count"]) > Number(row["row_count"]) / 2;

/** Whether it rests on something that nothing says of most rows. */
export const isDoubtful = (read: Read, assumptions: readonly Row[]): boolean =>
  meaningsOf(read, assumptions).some(isUnknown);
