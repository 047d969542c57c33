import { ApiError } from "../errors.ts";

/**
 * What an answer proves of the row that its path names: its presence (the row came), its absence (404 in the service's own error
 * envelope), that this key may not read it (403 in that envelope), or nothing. An answer of anybody else proves nothing: the
 * client retries it, and it ends as unavailable.
 */
export type Proof = "presence" | "absence" | "refusal" | "nothing";

/** What a failed request proves. */
export function proofIn(error: unknown): Exclude<Proof, "presence"> {
  const failure = error instanceof ApiError ? error.failure : undefined;
  return failure === "not_found" ? "absence" : failure === "forbidden" ? "refusal" : "nothing";
}
