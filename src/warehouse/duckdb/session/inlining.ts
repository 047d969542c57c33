/** Longer texts are bound: they would only be copied once more. */
const LONGEST = 20_000;

/** What may hold a `$1` that is none, and those that are. */
const tokens = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\d+)/g;

/**
 * A statement with its parameters written into it, each as what it would be bound as: bound, a statement goes to DuckDB in
 * three calls instead of one, which takes twice as long. Undefined for what is better bound.
 */
export function inlined(sql: string, parameters: readonly unknown[]): string | undefined {
  const literals = parameters.map(literal);
  const size = literals.reduce<number>((sum, text) => sum + (text?.length ?? LONGEST + 1), 0);
  if (size > LONGEST) return undefined;
  return sql.replace(tokens, (token, number: string | undefined) =>
    number === undefined ? token : (literals[Number(number) - 1] ?? token),
  );
}

function literal(parameter: unknown): string | undefined {
  switch (typeof parameter) {
    case "string":
      // Without a cast, so that it becomes a moment beside a moment, as a bound one does. A statement ends at its first NUL.
      return parameter.includes("\0") ? undefined : `'${parameter.replaceAll("'", "''")}'`;
    case "boolean":
      return String(parameter);
    case "bigint":
      return `(${parameter})::bigint`;
    case "number":
      if (Number.isSafeInteger(parameter)) return `(${parameter})::bigint`;
      // As text: a numeral is a decimal first, and one of those is made another double now and then.
      return Number.isFinite(parameter) ? `'${parameter}'::double` : undefined;
    default:
      return parameter === null || parameter === undefined ? "null" : undefined;
  }
}

/** An error of an inlined statement without the piece of it that DuckDB shows: values stand there. */
export function withoutStatement(error: unknown): unknown {
  if (error instanceof Error) error.message = error.message.replace(/(?<!\n)\n+LINE \d+:[\s\S]*$/, "");
  return error;
}
