import { endpoints, type Field, type Shape } from "../documented.ts";

/*
 * What the documents say about fields, as far as the other vocabulary has to know: which may be null, which objects have
 * fields that nobody documents, and which fields a list can be filtered by.
 */

/** A documented field where it stands: in data, which has the path of its endpoint, or below a field. */
interface Stated {
  readonly name: string;
  readonly holder: string;
  readonly nullable: boolean;
  readonly content: "shown" | "hidden" | "scalar";
}

function contentOf({ types, node }: Field): Stated["content"] {
  const isList = node?.kind === "array" && node.items.kind === "scalar";
  if (node !== undefined && !isList) return "shown";
  const all = node?.kind === "array" && node.items.kind === "scalar" ? node.items.types : types;
  return all.includes("o") || all.includes("any") ? "hidden" : "scalar";
}

function stated(shape: Shape | null, holder: string): Stated[] {
  if (shape?.kind === "array") return stated(shape.items, holder);
  if (shape?.kind !== "object") return [];
  return shape.fields.flatMap(field => {
    const { name, nullable, node } = field;
    return [{ name, holder, nullable, content: contentOf(field) }, ...stated(node ?? null, name)];
  });
}

const everything = endpoints.flatMap(({ path, shape }) => stated(shape, path));
const leaves = everything.filter(({ content }) => content !== "shown");
const shown = new Set(everything.filter(({ content }) => content === "shown").map(({ name }) => name));
/** Objects and lists whose content the documents do not show. */
export const UNDOCUMENTED: ReadonlySet<string> = new Set(
  leaves.filter(({ name, content }) => content === "hidden" && !shown.has(name)).map(({ name }) => name),
);

const sometimesNull = new Set(leaves.filter(({ nullable }) => nullable).map(({ name }) => name));

/** Fields that are never null, wherever they stand. */
export const NEVER_NULL: ReadonlySet<string> = new Set(
  leaves.map(({ name }) => name).filter(name => !sometimesNull.has(name)),
);

/** Fields that are never null in a place, by the field or the path that holds their object. */
export const NEVER_NULL_IN: ReadonlyMap<string, ReadonlySet<string>> = sets(
  leaves.filter(({ nullable }) => !nullable).map(({ holder, name }) => [holder, name]),
);

/** Fields that a list can be filtered by, by its path: a filter and what it lets through must agree. Two have other names there. */
export const FILTERED: ReadonlyMap<string, ReadonlySet<string>> = sets([
  ...endpoints.flatMap(({ path, query }) => query.map(name => [path, name] as const)),
  ["/ingested", "email_direction"],
  ["/items", "sourcing_strategy"],
]);

function sets(pairs: readonly (readonly [string, string])[]): Map<string, Set<string>> {
  const grouped = Map.groupBy(pairs, ([place]) => place);
  return new Map(Array.from(grouped, ([place, group]) => [place, new Set(group.map(([, name]) => name))]));
}
