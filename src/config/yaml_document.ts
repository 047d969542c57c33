import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import { ConfigError } from "../errors.ts";
import { configMessages } from "./messages.ts";

export type Path = readonly (string | number)[];

/** What the file says: its values with `${…}` still in them, and where each stands. */
export interface ConfigDocument {
  readonly values: Record<string, unknown>;
  /** `file:line:column` of the value at a path, or of the nearest one above it. */
  readonly valueAt: (path: Path) => string;
  /** `file:line:column` of a key itself. */
  readonly keyAt: (path: Path) => string;
}

/** `streams.settings.findings`, `schedules[0].cron`. */
export function pathText(path: Path): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === "number") return `${text}[${part}]`;
    return text === "" ? part : `${text}.${part}`;
  }, "");
}

/** What stands at a path below a value; undefined where nothing does. */
export function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((inner, part) => {
    if (typeof inner !== "object" || inner === null) return undefined;
    return (inner as Record<PropertyKey, unknown>)[part];
  }, value);
}

/** Reads YAML 1.2. @throws ConfigError that names file, line and column of every syntax error. */
export function parseConfigDocument(source: string, file: string): ConfigDocument {
  const lines = new LineCounter();
  const document = parseDocument(source, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0) {
    // The parser quotes the text, which may be secret, and reports follow-up errors in the rest of the line.
    const told = faults.map(({ message, pos: [offset] }) => {
      const { line } = lines.linePos(offset);
      return { line, where: at(offset), reason: `${message.split(/: "/, 1)[0]}${quotingAdvice(source, offset)}` };
    });
    const firsts = told.filter((fault, index) => told.findIndex(other => other.line === fault.line) === index);
    const shown = firsts.slice(0, 3).map(({ where, reason }) => ({ where, reason }));
    throw new ConfigError(configMessages.invalid_yaml({ faults: shown }));
  }

  const keys = new Map<string, number>();
  const offsets = new Map<string, number>();
  const read = (node: unknown, path: Path, above: readonly unknown[]): unknown => {
    if (above.includes(node)) throw new ConfigError(configMessages.circular_alias({ file, key: pathText(path) }));
    if (isAlias(node)) return read(node.resolve(document), path, [...above, node]);
    offsets.set(JSON.stringify(path), (node as Node | null)?.range?.[0] ?? 0);
    if (isMap(node)) {
      // Without a prototype a key named __proto__ is a key like any other, and gets reported.
      const map: Record<string, unknown> = Object.create(null);
      for (const { key, value } of node.items) {
        const name = String(isScalar(key) ? key.value : key);
        keys.set(JSON.stringify([...path, name]), (key as Node | null)?.range?.[0] ?? 0);
        const content = read(value, [...path, name], [...above, node]);
        if (content !== null) map[name] = content;
      }
      return map;
    }
    if (isSeq(node)) return node.items.map((item, index) => read(item, [...path, index], [...above, node]));
    return isScalar(node) ? asWritten(node.value, node.source) : null;
  };

  const values = read(document.contents, [], []) ?? {};
  if (typeof values !== "object" || Array.isArray(values)) {
    throw new ConfigError(configMessages.no_keys({ where: at(0), got: values }));
  }
  const locate = (known: readonly Map<string, number>[], path: Path): string => {
    for (let length = path.length; length > 0; length--) {
      const name = JSON.stringify(path.slice(0, length));
      const offset = known.map(map => map.get(name)).find(found => found !== undefined);
      if (offset !== undefined) return at(offset);
    }
    return at(0);
  };
  return {
    values: values as Record<string, unknown>,
    valueAt: path => locate([offsets, keys], path),
    keyAt: path => locate([keys, offsets], path),
  };
}

/** A numeral that would change as a number (leading zeros, twenty digits) stays text. */
function asWritten(value: unknown, source: string | undefined): unknown {
  if (typeof value !== "number" || source === undefined || String(value) === source) return value;
  return /^[+-]?\d+(\.\d+)?$/.test(source) ? source : value;
}

function quotingAdvice(source: string, offset: number): string {
  const start = source.lastIndexOf("\n", offset - 1) + 1;
  const line = source.slice(start).split("\n", 1)[0] ?? "";
  return /^[^[{]*[[{].*\$\{/.test(line) ? ` (a value with \${…} inside { } or [ ] must stand in quotes)` : "";
}
