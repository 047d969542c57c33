import { snakeCase } from "../catalog/columns.ts";
import { lookupOf } from "../catalog/lookup.ts";
import { pathParameters, type Stream } from "../catalog/stream.ts";

/** Columns that the engine works with, by `table.column`, and what each is needed for: their values have to stay what the service says. */
export function protectedColumns(catalogue: readonly Stream[]): ReadonlyMap<string, string> {
  const needed = new Map<string, string>();
  const keep = (name: string, what: string) => {
    if (!needed.has(name)) needed.set(name, what);
  };
  for (const stream of catalogue) {
    const { main, children } = stream.tables;
    for (const table of [main, ...children])
      for (const column of table.key) keep(`${table.name}.${column}`, "it is part of the key");
    const { mode } = stream;
    if (mode.kind === "feed") keep(`${main.name}.${mode.mark}`, "it says how far the feed has been read");
    if (mode.kind === "scan" || mode.kind === "feed")
      for (const parameter of pathParameters(mode.confirm ?? ""))
        keep(`${main.name}.${snakeCase(parameter)}`, "the service is asked with it whether a row is gone");
    for (const columns of Object.values(lookupOf(stream)?.from ?? {}))
      for (const column of columns) keep(column, `${stream.name} is asked for with it`);
    if (mode.kind !== "detail") continue;
    const asked = `${stream.name} is asked for with it`;
    for (const parameter of pathParameters(stream.path))
      keep(`${mode.of}.${mode.param?.[parameter] ?? snakeCase(parameter)}`, asked);
    for (const column of [mode.by, mode.only?.column, mode.open, mode.newest])
      if (column !== undefined) keep(`${mode.of}.${column}`, asked);
    for (const column of mode.also ?? []) keep(column, asked);
  }
  return needed;
}
