import { fixedPaths } from "../../catalog/stream.ts";
import { ApiError, meetsOthers } from "../../errors.ts";
import type { About } from "../../source/archive/about.ts";
import { type Proof, proofIn } from "../../source/evidence.ts";
import { buildPath } from "../../source/path.ts";
import { listedKeys, missingKeys } from "../../warehouse/merge/diff.ts";
import type { LoadTarget } from "../../warehouse/merge/load_target.ts";
import type { SyncContext } from "../context.ts";
import { inParallel } from "../extract/parallel.ts";
import type { StreamProgress } from "../stream_progress.ts";
import { type Evidence, type Key, type Missed, type Needed, needs } from "./soft_delete_decision.ts";

/** Listed rows whose addresses are requested in turn until one is answered. */
const CONTROLS = 3;

/** Rows of a lookup's unknown values that are judged at once; the others are, when the next scan misses them too. */
const MOST_PROVEN = 1_000;

/** The answers that a decision about missing rows needs. `unknown`: values that a lookup requested, by column, and that the service does not know. */
export async function answersAbout(
  context: SyncContext,
  missed: Missed,
  { target, unknown }: { readonly target: LoadTarget; readonly unknown: readonly Key[] },
  progress: StreamProgress,
): Promise<readonly Evidence[]> {
  const needed = needs(missed);
  if (needed === undefined) return [];
  const lookups = await lookedUpInVain(context, target, unknown);
  return [...lookups, ...(await requestAddresses(context, needed, target, progress))];
}

/** The missing rows whose values the service does not know. */
async function lookedUpInVain(
  { destination }: SyncContext,
  target: LoadTarget,
  unknown: readonly Key[],
): Promise<readonly Evidence[]> {
  const keys = unknown.length === 0 ? [] : await missingKeys(destination, target, MOST_PROVEN);
  return keys
    .filter(key => unknown.some(values => Object.entries(values).every(([name, value]) => key[name] === value)))
    .map(key => ({ key, of: "lookup", proof: "absence" }));
}

/**
 * Requests the addresses of at most `deletes.confirm_max` missing rows: those newly missed first, then those after the one requested
 * last. First comes a listed row's: where that path does not work, no missing row is requested. In the order of the rows.
 */
async function requestAddresses(
  context: SyncContext,
  { address, after }: Needed,
  target: LoadTarget,
  progress: StreamProgress,
): Promise<readonly Evidence[]> {
  if (address === undefined) return [];
  const { streams, destination, service, policy } = context;
  const siblings = fixedPaths(streams.catalogue);
  const request = (key: Key, about: Partial<About> = {}): Promise<Proof> =>
    requestOne(context, () => buildPath(address, key, siblings), about, progress);

  const controls: Evidence[] = [];
  for (const key of await listedKeys(destination, target, CONTROLS)) {
    const proof = await request(key, { control: true });
    controls.push({ key, of: "listed", proof });
    if (proof === "presence" || proof === "refusal") break;
  }
  if (controls.at(-1)?.proof !== "presence") return controls;
  const keys = await missingKeys(destination, target, policy.deletes.confirmMax, after);
  progress.activity.waitingFor = `the addresses of ${keys.length} missing rows`;
  const proofs = new Map<Key, Proof>();
  const width = service.limiter.state.maximum;
  for await (const [key, proof] of inParallel(keys, width, async key => [key, await request(key)] as const))
    proofs.set(key, proof);
  progress.activity.waitingFor = undefined;
  return [...controls, ...keys.map(key => ({ key, of: "missing", proof: proofs.get(key)! }) as const)];
}

async function requestOne(
  { service, signal }: SyncContext,
  path: () => string,
  about: Partial<About>,
  progress: StreamProgress,
): Promise<Proof> {
  try {
    progress.page(await service.api.get(path(), {}, { priority: 1, signal, about }));
    return "presence";
  } catch (error) {
    progress.failedRequest(error);
    // An id that makes no path.
    if (error instanceof RangeError) return "nothing";
    const proof = proofIn(error);
    // No answer is no proof, and no reason to keep the rest of the scan from the tables.
    if (proof === "nothing" && !(error instanceof ApiError && !meetsOthers(error))) throw error;
    return proof;
  }
}
