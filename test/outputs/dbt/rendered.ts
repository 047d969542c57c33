import { parse } from "yaml";
import type { PackageFile } from "../../../src/outputs/dbt/yaml_file.ts";
import { type Properties, project, properties } from "./accepted.ts";

/** What a template's names stand for; a call such as `ref('x')` is a name too. */
export type Names = (expression: string) => string | readonly string[];

/** The SQL of a file: remarks and the frame of a test taken out, every `{{ … }}` replaced. Only the package's own templates are understood. */
export function rendered(template: string, names: Names): string {
  const bare = template.replace(/\{#[\s\S]*?#\}/g, "").replace(/\{% (?:test .*|endtest) %\}/g, "");
  const sql = bare.replace(/\{\{ (.*?) \}\}/g, (_, expression: string) => {
    const text = /^'(.*)'$/.exec(expression)?.[1];
    if (text !== undefined) return text;
    const joined = /^(\w+) \| join\('(.*)'\)$/.exec(expression);
    const value = names(joined?.[1] ?? expression);
    if (joined !== null) return (value as readonly string[]).join(joined[2]!);
    if (typeof value !== "string") throw new TypeError(`${expression} is a list`);
    return value;
  });
  if (/\{[{%#]/.test(sql)) throw new Error(`a template that is not understood: ${sql}`);
  return sql.trim();
}

/** What an expression says whose names these are: texts, names, `var(…)`, joined by `~`, then `replace(…)` on them. */
function evaluated(
  expression: string,
  values: Readonly<Record<string, string>>,
  vars: Readonly<Record<string, string>>,
): string {
  const [first = "", ...filters] = expression.split(" | ");
  const joined = (text: string): string =>
    text
      .split(" ~ ")
      .map(part => /^'(.*)'$/.exec(part)?.[1] ?? values[part] ?? missing(part))
      .join("");
  const [, variable] = /^var\((.*)\)$/.exec(first) ?? [];
  const start = variable === undefined ? joined(first) : (vars[joined(variable)] ?? missing(first));
  return filters.reduce((text, filter) => {
    const [, from, to] = /^replace\((.*), (.*)\)$/.exec(filter) ?? missing(filter);
    return text.replaceAll(joined(from!), joined(to!));
  }, start);
}

function missing(what: string): never {
  throw new Error(`${what} is nothing that this package says`);
}

/** What dbt puts in for `var(…)`, and for calls of the package's macros in models; undefined for other calls. */
export function calling(
  files: readonly PackageFile[],
  own: Readonly<Record<string, string>> = {},
): (expression: string) => string | undefined {
  const vars = { ...project.parse(yamlOf(files, "dbt_project.yml")).vars, ...own };
  return expression => {
    const [, name = "", given = ""] = /^(\w+)\((.*)\)$/.exec(expression) ?? [];
    if (name === "var") return evaluated(expression, {}, vars);
    if (!files.some(({ path }) => path === `macros/${name}.sql`)) return undefined;
    const frame = /\{% macro \w+\((.*)\) -%\}\n([\s\S]*)\n\{%- endmacro %\}/;
    const [, taken = "", body = ""] = frame.exec(textOf(files, `macros/${name}.sql`)) ?? missing(name);
    const values = given.split(", ").map(text => text.slice(1, -1));
    const named = taken.split(", ").map((parameter, at) => {
      const [known = "", otherwise = "''"] = parameter.split("=");
      return [known, values[at] ?? otherwise.slice(1, -1)] as const;
    });
    return body.replace(/\{\{ (.*?) \}\}/g, (_, each: string) => evaluated(each, Object.fromEntries(named), vars));
  };
}

/** The file of that path. */
export function textOf(files: readonly PackageFile[], path: string): string {
  const file = files.find(candidate => candidate.path === path);
  if (file === undefined) throw new Error(`no file ${path}, only ${files.map(each => each.path).join(", ")}`);
  return file.text;
}

/** YAML as dbt reads it. */
export const yamlOf = (files: readonly PackageFile[], path: string): unknown =>
  parse(textOf(files, path), { version: "1.1" });

/** Everything that the files of properties say. */
export function propertiesOf(files: readonly PackageFile[]): {
  readonly sources: NonNullable<Properties["sources"]>;
  readonly models: NonNullable<Properties["models"]>;
  readonly macros: NonNullable<Properties["macros"]>;
  readonly exposures: NonNullable<Properties["exposures"]>;
} {
  const all = files
    .filter(({ path }) => /^(models|macros)\/.*\.yml$/.test(path))
    .map(({ path }) => properties.parse(yamlOf(files, path)));
  return {
    sources: all.flatMap(file => file.sources ?? []),
    models: all.flatMap(file => file.models ?? []),
    macros: all.flatMap(file => file.macros ?? []),
    exposures: all.flatMap(file => file.exposures ?? []),
  };
}

/** A test as the YAML names it, in the three parts that running it takes. */
export interface NamedTest {
  readonly test: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly severity: "error" | "warn";
  readonly where: string | undefined;
}

type DataTests = NonNullable<Properties["models"]>[number]["data_tests"];

export function namedTests(tests: DataTests): readonly NamedTest[] {
  return (tests ?? []).map(test => {
    if (typeof test === "string") return { test, arguments: {}, severity: "error", where: undefined };
    const [name, body] = Object.entries(test)[0]!;
    const { severity = "error", where } = body.config ?? {};
    return { test: name, arguments: body.arguments ?? {}, severity, where };
  });
}
