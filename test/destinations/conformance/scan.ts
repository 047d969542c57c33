import { type Comparison, compare, missingKeys, type Publication } from "../../../src/destinations/comparison.ts";
import type { Destination } from "../../../src/destinations/destination.ts";
import { createHasher } from "../../../src/encode/hash.ts";
import { layoutStamp } from "../../../src/encoder.ts";
import { encode, everything } from "../../encode/store.ts";

/** A complete scan of these rows, compared and not published. */
export async function scan(destination: Destination, rows: readonly unknown[]): Promise<[Comparison, string[]]> {
  const stage = await destination.stage("acme", everything);
  await stage.begin({ scan: "2" });
  await stage.append((await encode(rows)).batch, { scan: "2" });
  const publication: Publication = {
    company: "acme",
    stream: "things",
    tables: everything,
    stage,
    stamp: layoutStamp(everything, await createHasher()),
    parent: undefined,
    details: [],
    scope: undefined,
  };
  const comparison = await compare(destination, publication, true);
  const missing = await missingKeys(destination, publication, 10);
  return [comparison, missing.map(key => key["id"]!)];
}
