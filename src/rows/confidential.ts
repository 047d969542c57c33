import { snakeCase } from "../catalog/columns.ts";

// Most names are done with after one look.
const SUSPECT = /secret|passw|passphrase|token|key/i;
const SECRET =
  /(^|_)(secret|secrets|password|passwd|passphrase|api_?key|private_key|signing_key|secret_key|token|(access|refresh|auth|bearer|bot|session|api|webhook)_token)$/;

/** What a name that matches ends with, whatever its case: beginning with letters that are rare in JSON. A Kelvin sign becomes a k. */
export const LAST_LETTERS = ["secret", "secrets", "ssword", "sswd", "phrase", "key", "token", "\u212aey", "to\u212aen"];

/** Whether a field's name says that its value opens something: such values are stored nowhere, whatever the service sends. */
export function isConfidential(field: string): boolean {
  return SUSPECT.test(field) && SECRET.test(snakeCase(field).replace(/[^a-z0-9]+/g, "_"));
}
