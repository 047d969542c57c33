import { sourcesOf, waitsFor } from "../../catalog/lookup.ts";
import type { Scan, Stream } from "../../catalog/stream.ts";
import { policyOf } from "../../sync/run/jobs.ts";
import { questionsOf } from "../../sync/stream/lookups.ts";
import type { Guess, Look } from "./look.ts";

/** As many as the config names sets of values, by the columns that are loaded. */
export async function estimateLookup(look: Look, stream: Stream, mode: Scan): Promise<Guess> {
  const { order, catalogue, reading, company } = look;
  const asking = policyOf(order.config, stream.name);
  const place = { looked: reading, company: company.name, catalogue };
  const { asked } = await questionsOf(place, stream, mode, asking);
  const sources = Object.values(sourcesOf(stream, asking)).flat();
  const notLoaded = sources.length > 0 && asked.length === 0;
  const why = notLoaded
    ? `one for each value of ${sources.join(" and ")}, which are not loaded yet`
    : "one for each set of values";
  return { requests: asked.length, atLeast: waitsFor(stream, asking).length > 0, why, inARow: 1 };
}
