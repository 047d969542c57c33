import { snakeCase } from "../columns.ts";

const SECRET =
  /(^|_)(secret|secrets|password|passwd|passphrase|api_?key|private_key|signing_key|secret_key|token|(access|refresh|auth|bearer|bot|session|api|webhook)_token)$/;

// Field names are few and come again with every row.
const known = new Map<string, boolean>();
const MOST = 10_000;

/** Whether a field's name says that its value opens something: such values are stored nowhere, whatever the service sends. */
export function isConfidential(field: string): boolean {
  let confidential = known.get(field);
  if (confidential === undefined) {
    confidential = SECRET.test(snakeCase(field).replace(/[^a-z0-9]+/g, "_"));
    if (known.size < MOST) known.set(field, confidential);
  }
  return confidential;
}
