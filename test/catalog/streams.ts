import type { z } from "zod";
import { record } from "../../schemas/fields.ts";
import { defineStream, list, type Stream, type StreamFacts } from "../../src/catalog/stream.ts";

/** A stream of a test's own: a list at `/name` whose first field is its key, unless `facts` say otherwise. */
export const streamOf = (name: string, fields: z.ZodRawShape, facts: Partial<StreamFacts> = {}): Stream =>
  defineStream({
    name,
    path: `/${name}`,
    mode: list({ rows: name }),
    row: record("Rows.", fields),
    key: [Object.keys(fields)[0]!],
    preset: "core",
    ...facts,
  });
