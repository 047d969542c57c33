import { z } from "zod";
import type { Message } from "../message.ts";
import { nearest } from "../nearest_name.ts";
import { bareSchema } from "../options/program_form.ts";
import { configMessages, type Fault } from "./messages.ts";
import { configSchema, schemaAt } from "./schema.ts";
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
      return { where: `${document.keyAt(whole)} ${pathText(whole)}`, ...unknownKey(path, key) };
    });
  }
  const rule = issue.code === "custom" ? (issue.params?.["rule"] as Message | undefined) : undefined;
  return [{ where: `${document.valueAt(path)} ${pathText(path)}`, ...(rule ?? wrong(issue, path, templates)) }];
}

function wrong({ code, message: reason }: z.core.$ZodIssue, path: Path, templates: unknown): Message {
  const came = valueAt(templates, path);
  if (came === undefined) return configMessages.missing({ reason });
  const kind = code === "invalid_type" ? "wrong_type" : "invalid_value";
  return configMessages[kind]({ reason, got: shown(path, came) });
}

function unknownKey(path: Path, key: string): Message {
  const keys = keysOf(schemaAt(configSchema, path));
  const near = nearest(key, keys);
  if (near !== undefined) return configMessages.unknown_key({ near, under: [], known: [] });
  const under = keysOf(configSchema).filter(name => keysOf(schemaAt(configSchema, [name])).includes(key));
  return configMessages.unknown_key({ near, under, known: under.length > 0 ? [] : keys });
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
