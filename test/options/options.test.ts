import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { report, schedule } from "../../src/config/daemon_schema.ts";
import { companyData, runData } from "../../src/fleet/job_data.ts";
import * as options from "../../src/options/options.ts";
import { bareSchema } from "../../src/options/program_form.ts";
import { root } from "../repository/sources.ts";

const { selectionOptions, limitOptions, syncOptions, backfillOptions, uploadOptions, reportOptions } = options;
const declared = [syncOptions, backfillOptions, uploadOptions, reportOptions].flatMap(own =>
  Object.values<z.ZodType>(own).map(schema => options.mannerOf(schema)!.help),
);

/** The paths of values that no option's schema makes. */
function ownValues(schema: z.core.$ZodType, path: readonly string[] = []): readonly string[] {
  if (declared.includes(options.mannerOf(schema)?.help ?? "")) return [];
  const bare = schema instanceof z.ZodReadonly || schema instanceof z.ZodNonOptional ? schema.unwrap() : schema;
  if (bare !== schema) return ownValues(bare, path);
  if (schema instanceof z.ZodPipe && schema.in instanceof z.ZodObject) return ownValues(schema.in, path);
  if (schema instanceof z.ZodOptional) return ownValues(schema.unwrap(), path);
  const inner = bareSchema(schema);
  if (inner instanceof z.ZodArray) return ownValues(inner.element, path);
  if (inner instanceof z.ZodObject)
    return Object.entries<z.core.$ZodType>(inner.shape).flatMap(([key, below]) => ownValues(below, [...path, key]));
  return [path.join(".")];
}

const facts = ["runId", "startedAt", "askedAt", "command"];
const plan = ["backfill.ranges.stream", "backfill.continued"];

test.each([
  ["a run", runData, [...facts, ...plan]],
  ["a company of a run", companyData, [...facts, ...plan, "keyLock"]],
  ["a schedule", schedule, ["name", "cron", "timezone", "retries", "retry_after"]],
  [
    "a report",
    report,
    ["after", "out", "mail.smtp", "mail.from", "mail.to", "mail.subject", "mail.when", "mail.every", "post"],
  ],
])("each option of %s is made of its schema", (_, schema, own) => {
  expect(ownValues(schema)).toEqual(own);
});

test("each option of a function of the package is made of its schema", () => {
  const texts = globSync("src/library/*.ts", { cwd: root }).map(path => readFileSync(join(root, path), "utf8"));
  const found = texts.flatMap(text => [...text.matchAll(/^export interface (\w+Options)\b([^{]*)\{(.*?)\}$/gms)]);
  const own = found.map(([, name, , body]) => [
    name,
    [...body!.matchAll(/^ {2}readonly (\w+)/gm)].map(([, key]) => key),
  ]);
  expect(Object.fromEntries(own)).toEqual({
    ReadOptions: ["state"],
    SyncOptions: [],
    UploadOptions: [],
    WarehouseOptions: ["config", "env", "local", "log", "logLevel"],
    WatchOptions: ["watch"],
    WorkOptions: ["signal"],
  });
});

test("an option in the program's form has the rule of its schema, and a duration is milliseconds", () => {
  const rules = options.programRules({ ...selectionOptions, ...limitOptions });
  const given = { streams: ["a"], company: "acme", maxTimeMs: 14_400_000, maxRequests: 5, waitMs: 0 };
  expect(rules.parse(given)).toEqual(given);
  const wrong = { streams: "a", company: 5, maxTimeMs: "4h", maxRequests: -1, waitMs: Number.NaN };
  const places = rules.safeParse({ ...wrong, wait: "4h" }).error?.issues.map(({ path, code }) => path[0] ?? code);
  expect(places?.toSorted()).toEqual(["company", "maxRequests", "maxTimeMs", "streams", "unrecognized_keys", "waitMs"]);
});
