import { stringify } from "yaml";
import type { OwnedFile as PackageFile } from "../owned_folder.ts";

export type { PackageFile };

const MADE = "Written by `tributary dbt`, which writes it anew: change the configuration, not this file.";

/** A YAML file. dbt reads YAML 1.1, where `on` and `no` are truth values unless they are quoted. */
export function yamlFile(path: string, value: unknown, remarks: readonly string[] = []): PackageFile {
  const head = [MADE, ...remarks].map(line => `# ${line}\n`).join("");
  return { path, text: `${head}${stringify(value, { version: "1.1", lineWidth: 0, aliasDuplicateObjects: false })}` };
}

/** SQL below a Jinja comment, which dbt removes. */
export function sqlFile(path: string, lines: readonly string[]): PackageFile {
  return { path, text: `{#- ${MADE} -#}\n${lines.join("\n")}\n` };
}

/** Escapes text for dbt, which renders descriptions as Jinja templates. */
export function plainly(text: string): string {
  return text.replace(/\{[{%#]/g, opening => `{{ '${opening}' }}`);
}

/** A string literal within `{{ … }}`. */
export function templateText(text: string): string {
  return `'${text.replace(/[\\']/g, character => `\\${character}`)}'`;
}
