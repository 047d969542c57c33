import { endpoints, type Field, type Shape } from "../documented.ts";
import type { Json } from "./reading.ts";

/** Which kinds of value were seen at each place, over everything that this file's tests checked. */
export const seen = new Map<string, Set<string>>();

export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a";
  return { string: "s", number: "n", boolean: "b", object: "o" }[typeof value as string] ?? "?";
}

function fits(value: unknown, types: readonly string[]): boolean {
  const kind = kindOf(value);
  if (types.length === 0 || types.includes("any") || types.includes(kind)) return true;
  return types.includes("i") && Number.isInteger(value);
}

/** What in a value is not as documented: missing, not documented, of another type, null where it may not be. */
export function checkShape(value: unknown, shape: Shape | null, place: string): string[] {
  if (shape === null) return [];
  if (shape.kind === "scalar") return fits(value, shape.types) ? [] : [`${place}: ${JSON.stringify(value)}`];
  if (shape.kind === "array") {
    if (!Array.isArray(value)) return [`${place}: not an array`];
    return value.flatMap(item => checkShape(item, shape.items, `${place}[]`));
  }
  if (kindOf(value) !== "o") return [`${place}: not an object`];
  const row = value as Json;
  const known = new Set(shape.fields.map(({ name }) => name));
  const wrong = Object.keys(row)
    .filter(name => !known.has(name))
    .map(name => `${place}.${name}: not documented`);
  return wrong.concat(shape.fields.flatMap(field => checkField(row, field, `${place}.${field.name}`)));
}

function checkField(row: Json, field: Field, place: string): string[] {
  if (!(field.name in row)) return [`${place}: missing`];
  const value = row[field.name];
  if (!seen.has(place)) seen.set(place, new Set());
  seen.get(place)?.add(kindOf(value));
  if (value === null) return field.nullable || field.types.includes("any") ? [] : [`${place}: null`];
  if (!fits(value, field.types)) return [`${place}: ${JSON.stringify(value)}`];
  return field.node === undefined ? [] : checkShape(value, field.node, place);
}

/** Places at which a documented kind of value was never seen: null, a number, a number as text … */
export function unseen(): string[] {
  const missing: string[] = [];
  const visit = (shape: Shape | null, place: string): void => {
    if (shape?.kind === "array") visit(shape.items, `${place}[]`);
    if (shape?.kind !== "object") return;
    for (const { name, types, nullable, node } of shape.fields) {
      const at = `${place}.${name}`;
      const kinds = types.includes("any") ? [] : types.map(type => (type === "i" ? "n" : type));
      for (const kind of nullable ? [...kinds, "null"] : kinds)
        if (seen.get(at)?.has(kind) !== true) missing.push(`${at} is never ${kind}`);
      visit(node ?? null, at);
    }
  };
  for (const { path, shape } of endpoints) visit(shape, path);
  return missing;
}
