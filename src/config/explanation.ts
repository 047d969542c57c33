import { z } from "zod";
import { nearest } from "../nearest_name.ts";
import type { Fault } from "./expansion.ts";
import { bareSchema, configSchema, schemaAt } from "./schema.ts";
import { type ConfigDocument, type Path, pathText, valueAt } from "./yaml_document.ts";

/** What the schema refused. `templates` are the values before `${…}` was replaced: what came is shown as it was written. */
export function explain(issues: readonly z.core.$ZodIssue[], document: ConfigDocument, templates: unknown): Fault[] {
  return issues.flatMap(issue => explainIssue(issue, document, templates));
}

function explainIssue(issue: z.core.$ZodIssue, document: ConfigDocument, templates: unknown): Fault[] {
  const path = issue.path.map(part => (typeof part === "number" ? part : String(part)));
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map(key => {
      const whole = [...path, key];
      const message = `unknown key${unknownKeyAdvice(path, key)}`;
      return { where: `${document.keyAt(whole)} ${pathText(whole)}`, message };
    });
  }
  const came = valueAt(templates, path);
  const complete = issue.code === "custom" && issue.params?.["complete"] === true;
  const got = complete || came === undefined ? "" : `, got ${shown(path, came)}`;
  return [{ where: `${document.valueAt(path)} ${pathText(path)}`, message: `${issue.message}${got}` }];
}

function unknownKeyAdvice(path: Path, key: string): string {
  const holder = schemaAt(configSchema, path);
  const known = keysOf(holder);
  const near = nearest(key, known);
  if (near !== undefined) return `, did you mean ${near}?`;
  const elsewhere = keysOf(configSchema).filter(name => keysOf(schemaAt(configSchema, [name])).includes(key));
  if (elsewhere.length > 0) return `; it belongs under ${elsewhere.join(" or ")}`;
  return `; known here: ${known.join(", ")}`;
}

/** The names an object's schema knows; none for anything else. */
export function keysOf(schema: z.core.$ZodType | undefined): string[] {
  const bare = schema === undefined ? undefined : bareSchema(schema);
  return bare instanceof z.ZodObject ? Object.keys(bare.shape) : [];
}

function shown(path: Path, value: unknown): string {
  if (path.at(-1) === "key") return "something else (not shown)";
  const spelled = JSON.stringify(value) ?? String(value);
  return spelled.length > 80 ? `${spelled.slice(0, 79)}…` : spelled;
}
