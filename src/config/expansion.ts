import { ConfigError } from "../errors.ts";
import { isPlaceIn } from "../secrets.ts";
import type { Fault } from "./messages.ts";
import { isOpen } from "./schema.ts";
import { type Surroundings, substitute } from "./substitution.ts";
import { type ConfigDocument, type Path, pathText } from "./yaml_document.ts";

/** The document's values with every `${…}` replaced, what of it is secret, the files it was read from, and what could not be replaced. */
export interface Expansion {
  readonly values: unknown;
  readonly secrets: readonly string[];
  readonly mounted: readonly string[];
  readonly faults: readonly Fault[];
}

/** Keys of the service: who asks it for nothing can do without. */
const isKey = (path: Path): boolean => path.at(-1) === "key" && (path[0] === "api" || path[0] === "companies");

const isAddress = (path: Path): boolean =>
  path.at(-1) === "base_url" || ["destination.url", "destination.catalog"].includes(pathText(path));

/**
 * Replaces `${…}` throughout; what it stood for is a secret unless the key holds a name or an option (schema: open), or it is
 * an address's user, host or database. `local`: the service's keys may be missing.
 */
export async function expand(
  templates: unknown,
  document: ConfigDocument,
  surroundings: Surroundings,
  local: boolean,
): Promise<Expansion> {
  const secrets: string[] = [];
  const mounted: string[] = [];
  const faults: Fault[] = [];
  const walk = async (value: unknown, path: Path): Promise<unknown> => {
    if (Array.isArray(value)) return Array.fromAsync(value, (item, index) => walk(item, [...path, index]));
    if (typeof value === "object" && value !== null) {
      const map: Record<string, unknown> = Object.create(null);
      for (const [key, item] of Object.entries(value)) map[key] = await walk(item, [...path, key]);
      return map;
    }
    if (typeof value !== "string") return value;
    try {
      const { text, inserted, mounted: files } = await substitute(value, surroundings);
      mounted.push(...files);
      const isPlace = (part: string) => isAddress(path) && isPlaceIn(text, part);
      if (!isOpen(path)) secrets.push(...inserted.filter(part => !isPlace(part)));
      return text;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      if (local && isKey(path)) return undefined;
      const { code, message, fields } = error;
      faults.push({ where: `${document.valueAt(path)} ${pathText(path)}`, code, message, fields });
      return undefined;
    }
  };
  return { values: await walk(templates, []), secrets, mounted, faults };
}
