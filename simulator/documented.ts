import documented from "./documented.json" with { type: "json" };

/** A documented field; types are `s n i b o a any`. */
export interface Field {
  readonly name: string;
  readonly types: readonly string[];
  readonly nullable: boolean;
  readonly node?: Shape;
}

/** A documented shape: an object's fields, an array's elements, or a scalar. */
export type Shape =
  | { readonly kind: "object"; readonly fields: readonly Field[] }
  | { readonly kind: "array"; readonly items: Shape }
  | { readonly kind: "scalar"; readonly types: readonly string[]; readonly nullable: boolean };

/** A GET endpoint of the documents. */
export interface Endpoint {
  /** Relative to /api/v1, with {names} for parameters. */
  readonly path: string;
  readonly paged: boolean;
  readonly query: readonly string[];
  /** Of the answer's data; null where the documents don't show it. */
  readonly shape: Shape | null;
}

/** Every GET endpoint of the documents. */
export const endpoints = documented as readonly Endpoint[];

/** The fields of an array's elements; undefined where they are no objects. */
export function elementsOf(shape: Shape | undefined): readonly Field[] | undefined {
  return shape?.kind === "array" && shape.items.kind === "object" ? shape.items.fields : undefined;
}

/** The fields of an endpoint's data; none where it is an array, or has no documented shape. */
export const fieldsOf = ({ shape }: Endpoint): readonly Field[] => (shape?.kind === "object" ? shape.fields : []);
