import pg, { type CustomTypesConfig } from "pg";

const INT8 = 20;
const DATE = 1082;
const TIMESTAMP = 1114;

/** int8 as number (RangeError when a double cannot hold it: select it as text), dates as text, the rest as pg reads it. */
export const valueTypes: CustomTypesConfig = {
  getTypeParser(oid, format) {
    if (format === "binary") return pg.types.getTypeParser(oid, "binary");
    if (oid === INT8) return safeInteger;
    if (oid === DATE || oid === TIMESTAMP) return (text: string) => text;
    return pg.types.getTypeParser(oid, "text");
  },
};

function safeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`expected a count that a double holds, got ${text}`);
  return value;
}
