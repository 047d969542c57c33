import { z } from "zod";
import type { TableSet } from "../../src/catalog/columns.ts";
import { tablesOf } from "../../src/catalog/columns.ts";
import { type Encoded, Encoder } from "../../src/rows/encoder.ts";
import { createHasher } from "../../src/rows/hash.ts";
import { type Formats, isoUtc } from "../../src/rows/moment.ts";
import { schemaFingerprint } from "../../src/rows/schema_fingerprint.ts";
import type { Destination } from "../../src/warehouse/destination.ts";
import { applyDiff, inPublish, openPublish } from "../../src/warehouse/merge/apply.ts";
import { compare } from "../../src/warehouse/merge/diff.ts";
import type { LoadTarget } from "../../src/warehouse/merge/load_target.ts";
import { ensureTables } from "../../src/warehouse/schema/tables.ts";
import { ensureState } from "../../src/warehouse/state/state_ddl.ts";

type Row = Record<string, unknown>;

const field = (kind: string) => z.unknown().meta({ kind });

/** A table with a column of each kind, and a child. */
export const everything: TableSet = tablesOf({
  name: "things",
  row: z.object({
    id: field("id"),
    text: field("text"),
    money: field("money"),
    count: field("count"),
    score: field("score"),
    flag: field("flag"),
    day: field("date"),
    at: field("moment"),
    json: field("json"),
    nested: z.object({ amount: field("money"), deep: z.object({ note: field("text") }) }),
    lines: z.array(z.object({ line_no: field("id"), price: field("money") })).meta({ table: "thing_lines" }),
  }),
  key: ["id"],
  added: [],
  volatile: [],
});

/** Rows through the encoder; `ignored` and the high-water column are none. */
export async function encode(rows: readonly unknown[], formats: Formats = isoUtc): Promise<Encoded> {
  const encoder = new Encoder({
    tables: everything,
    formats,
    hasher: await createHasher(),
    ignored: [],
    highWaterColumn: undefined,
  });
  for (const row of rows) encoder.add(row, {}, {});
  return encoder.take();
}

/** Puts rows into the tables of a warehouse, made on the way, on a day of March 2026; returns what the encoder told. `also` writes in the same transaction. */
export async function store(
  destination: Destination,
  rows: readonly Row[],
  formats: Formats = isoUtc,
  day = 15,
  also: (trx: Destination["db"]) => Promise<void> = async () => undefined,
): Promise<Encoded> {
  const { db, dialect, schema, stateSchema } = destination;
  await ensureState(db, dialect, stateSchema);
  await ensureTables(db, dialect, {
    schema,
    stateSchema,
    streams: [everything],
    comment: table => table.name,
    grantSelectTo: [],
  });
  const { target, encoded } = await stageRows(destination, "1", rows, formats);
  const diff = await compare(destination, target, false);
  const timestamp = `2026-03-${String(day).padStart(2, "0")}T12:00:00.000Z`;
  await inPublish(destination, target, diff, async trx => {
    const open = await openPublish(trx, destination, target, diff);
    await applyDiff({ ...open, timestamp }, diff, { absent: "believed" });
    await also(trx);
  });
  await target.stage.drop();
  return encoded;
}

/** A scan of these rows, ready to be compared and published. */
export async function stageRows(
  destination: Destination,
  scan: string,
  rows: readonly unknown[],
  formats: Formats = isoUtc,
): Promise<{ readonly target: LoadTarget; readonly encoded: Encoded }> {
  const stage = await destination.stage("acme", everything);
  await stage.begin({ scan });
  const encoded = await encode(rows, formats);
  await stage.append(encoded.batch, { scan });
  const target = {
    company: "acme",
    stream: "things",
    tables: everything,
    stage,
    schemaFingerprint: schemaFingerprint(everything, await createHasher()),
    parent: undefined,
    details: [],
    scope: undefined,
  };
  return { target, encoded };
}
