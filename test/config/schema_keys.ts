import { z } from "zod";
import { bareSchema } from "../../src/options/program_form.ts";

/** Every key of the schema: `a.b`, `list[].c`, and `*` for names that are the user's. */
export function schemaKeys(schema: z.core.$ZodType, above = ""): string[] {
  const bare = bareSchema(schema);
  if (bare instanceof z.ZodArray) return schemaKeys(bare.element, `${above}[]`);
  if (bare instanceof z.ZodRecord) return schemaKeys(bare.valueType, `${above}.*`);
  if (!(bare instanceof z.ZodObject)) return [];
  return Object.entries<z.core.$ZodType>(bare.shape).flatMap(([key, inner]) => {
    const path = above === "" ? key : `${above}.${key}`;
    return [path, ...schemaKeys(inner, path)];
  });
}
