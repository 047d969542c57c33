import { createHash } from "node:crypto";

/** So many hexadecimal digits of the SHA-256 of a value's JSON. */
export const digestOf = (value: unknown, digits = 16): string =>
  createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, digits);
