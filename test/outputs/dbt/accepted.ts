import { z } from "zod";

/*
 * What dbt takes, after its reference of properties and configs (1.10 and later): keys that it doesn't name are refused here
 * as its own checks refuse them. Names are those that it makes objects of.
 */

const objectName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/);
const span = z.strictObject({ count: z.int().positive(), period: z.enum(["minute", "hour", "day"]) });
const freshness = z.strictObject({ warn_after: span.optional(), error_after: span.optional() });
const meta = z.record(z.string(), z.json());

const testConfig = z.strictObject({
  severity: z.enum(["error", "warn"]).optional(),
  where: z.string().optional(),
  tags: z.array(z.string()).optional(),
  meta: meta.optional(),
});
const configuredTest = z
  .record(
    objectName,
    z.strictObject({
      name: z.string().max(63).optional(),
      description: z.string().optional(),
      arguments: z.record(z.string(), z.json()).optional(),
      config: testConfig.optional(),
    }),
  )
  .refine(test => Object.keys(test).length === 1, { error: "a test has one name" });
const dataTests = z.array(z.union([z.enum(["unique", "not_null"]), configuredTest]));

const column = z.strictObject({
  name: z.string().min(1),
  quote: z.boolean().optional(),
  description: z.string().min(1),
  data_type: z.string().min(1).optional(),
  data_tests: dataTests.optional(),
});

const sourceTable = z.strictObject({
  name: z.string(),
  identifier: z.string().optional(),
  description: z.string().min(1),
  config: z
    .strictObject({
      meta: meta.optional(),
      tags: z.array(z.string()).optional(),
      freshness: freshness.nullable().optional(),
      loaded_at_query: z.string().optional(),
    })
    .optional(),
  data_tests: dataTests.optional(),
  columns: z.array(column),
});

const source = z.strictObject({
  name: z.string(),
  description: z.string().min(1),
  database: z.string().optional(),
  schema: z.string().optional(),
  loader: z.string().optional(),
  config: z.strictObject({ freshness: freshness.nullable().optional(), meta: meta.optional() }).optional(),
  tables: z.array(sourceTable).min(1),
});

const model = z.strictObject({
  name: objectName,
  description: z.string().min(1),
  config: z.strictObject({ meta: meta.optional(), tags: z.array(z.string()).optional() }).optional(),
  data_tests: dataTests.optional(),
  columns: z.array(column),
});

const exposure = z.strictObject({
  name: objectName,
  label: z.string().min(1).optional(),
  type: z.enum(["dashboard", "notebook", "analysis", "ml", "application"]),
  description: z.string().min(1).optional(),
  owner: z.strictObject({ name: z.string().min(1) }),
  depends_on: z.array(z.string().regex(/^(ref\('\w+'\)|source\('\w+', '\w+'\))$/)),
});

const macro = z.strictObject({ name: objectName, description: z.string().min(1) });

/** A file of properties, wherever below `models` and `macros` it stands. */
export const properties = z.strictObject({
  version: z.literal(2).optional(),
  sources: z.array(source).optional(),
  models: z.array(model).optional(),
  macros: z.array(macro).optional(),
  exposures: z.array(exposure).optional(),
});

const folders = z.array(z.string().regex(/^[\w./-]+$/)).min(1);

/** `dbt_project.yml`. */
export const project = z.strictObject({
  name: z.string().regex(/^[a-z_][a-z0-9_]*$/),
  version: z.string(),
  "config-version": z.literal(2),
  "require-dbt-version": z.array(z.string().regex(/^[<>]=?\d+\.\d+\.\d+$/)),
  profile: z.string(),
  "model-paths": folders,
  "macro-paths": folders,
  "clean-targets": folders,
  flags: z.strictObject({
    require_generic_test_arguments_property: z.boolean(),
    indirect_selection: z.enum(["eager", "cautious", "buildable", "empty"]),
  }),
  models: z.record(
    z.string(),
    z.record(
      z.string(),
      z.strictObject({
        "+materialized": z.enum(["view", "table", "incremental", "ephemeral"]),
        "+persist_docs": z.strictObject({ relation: z.boolean(), columns: z.boolean() }),
        "+contract": z.strictObject({ enforced: z.boolean() }).optional(),
      }),
    ),
  ),
  vars: z.record(objectName, z.string()),
});

const variable = z.string().regex(/^\{\{ env_var\('[A-Z][A-Z0-9_]*'(, '(?:[^'\\]|\\.)*')?\)( \| as_number)? \}\}$/);

/** `profiles.yml`: whatever differs from place to place comes from a variable. */
export const profiles = z.record(
  z.string(),
  z.strictObject({
    target: z.string(),
    outputs: z.record(
      z.string(),
      z.discriminatedUnion("type", [
        z.strictObject({
          type: z.literal("duckdb"),
          path: variable,
          threads: z.int().positive(),
          attach: z.array(z.strictObject({ path: variable, alias: objectName, read_only: z.literal(true) })),
        }),
        z.strictObject({
          type: z.literal("postgres"),
          host: variable,
          port: variable,
          user: variable,
          password: variable,
          dbname: variable,
          schema: variable,
          sslmode: variable,
          threads: z.int().positive(),
        }),
      ]),
    ),
  }),
);

export type Properties = z.output<typeof properties>;
