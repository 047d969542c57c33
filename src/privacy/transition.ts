import type { Treatment } from "../catalog/columns.ts";
import type { PrivacyRecord } from "../warehouse/state/privacy_record.ts";
import { EXTRA_COLUMN, isPersonalName, type Policy, policyWith } from "./policy.ts";
import type { Treat } from "./treatment.ts";

/** Of fields that the documents don't name. */
const UNDOCUMENTED = `*.${EXTRA_COLUMN}`;

/** The policy that was recorded: as it is (`treatment`), or as it was before. */
export function recordedPolicy(records: readonly PrivacyRecord[], which: "treatment" | "was"): Policy {
  const all = new Map<string, Treatment>();
  let key: string | undefined;
  for (const each of records) {
    const treatment = which === "was" && !each.isClean ? each.was : each.treatment;
    if (treatment !== null) all.set(`${each.table}.${each.column}`, treatment);
    // What was hashed once may name a key that is not used any more.
    if (treatment === "hash") key ??= each.keyId ?? undefined;
  }
  const undocumented = all.get(UNDOCUMENTED);
  all.delete(UNDOCUMENTED);
  return policyWith(all, undocumented, key);
}

/**
 * What has to be done to values stored under one policy, so that they are as under another. What was hashed or masked can't
 * become anything else: it is left out, until it is read again. (Kept, a hash would be hashed once more some day.)
 */
export function transition(from: Policy, to: Policy): Policy {
  const acts = new Map<string, Treatment>();
  for (const name of new Set([...from.treatments.keys(), ...to.treatments.keys()])) {
    const act = actOf(from.treatments.get(name), to.treatments.get(name));
    if (act !== undefined) acts.set(name, act);
  }
  return policyWith(acts, actOf(from.undocumented, to.undocumented), to.keyId);
}

function actOf(from: Treatment | undefined, to: Treatment | undefined): Treatment | undefined {
  if (from === to || (from === "exclude" && to === undefined)) return undefined;
  return from === undefined ? to : "exclude";
}

const HASH = /^[0-9a-f]{64}$/;

/**
 * For values that are stored under a policy: while the documents did not name a field it may have been hashed for its name
 * alone. Such a hash is what a hash of its column is to be; hashed once more it would match no other.
 */
export function treatingStored(treat: Treat, { undocumented }: Policy): Treat {
  if (undocumented !== "hash") return treat;
  return (value, treatment, field = "") => {
    const isHash = typeof value === "string" && HASH.test(value) && isPersonalName(field);
    if (!isHash) return treat(value, treatment, field);
    return treatment === "hash" ? value : undefined;
  };
}

/** All that a policy treats, left out: for values of which nobody knows under which one they were stored. */
export function excluding({ treatments, undocumented, keyId }: Policy): Policy {
  const none = new Map([...treatments.keys()].map(name => [name, "exclude" as const]));
  return policyWith(none, undocumented === undefined ? undefined : "exclude", keyId);
}

/** Where `to` differs from what is recorded, as it is to be recorded. */
export function differences(records: readonly PrivacyRecord[], to: Policy): readonly PrivacyRecord[] {
  const now = new Map(records.map(each => [`${each.table}.${each.column}`, each]));
  const wanted = new Map(to.treatments);
  if (to.undocumented !== undefined) wanted.set(UNDOCUMENTED, to.undocumented);
  return [...new Set([...now.keys(), ...wanted.keys()])].flatMap(name => {
    const before = now.get(name);
    const was = before?.treatment ?? null;
    const treatment = wanted.get(name) ?? null;
    if (was === treatment) return [];
    const [table = "", column = ""] = name.split(".");
    const hashes = treatment === "hash" ? (to.keyId ?? null) : was === "hash" ? (before?.keyId ?? null) : null;
    return [{ table, column, treatment, was, keyId: hashes, isClean: false }];
  });
}
