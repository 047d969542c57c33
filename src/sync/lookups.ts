import { buildPath, PathError } from "../api/path.ts";
import { distinctValues } from "../destinations/distinct_values.ts";
import type { Looked } from "../destinations/inspection.ts";
import type { Question } from "../extract/lookups.ts";
import { type Asking, loadedColumn, sourcesOf, valueSets } from "../lookup.ts";
import { fixedPaths, type Scan, type Stream } from "../stream.ts";

/** What a lookup asks this time. */
export interface Questions {
  readonly asked: readonly Question[];
  /** Why values can't be asked for, a sentence each. */
  readonly unusable: readonly string[];
}

/** Works out a lookup's questions by the config and by the tables that it takes values from. */
export async function questionsOf(
  place: { readonly looked: Looked | undefined; readonly company: string; readonly catalogue: readonly Stream[] },
  stream: Stream,
  mode: Scan,
  asking: Asking,
): Promise<Questions> {
  const { looked, company, catalogue } = place;
  const found: Record<string, readonly string[]> = {};
  for (const [name, columns] of Object.entries(sourcesOf(stream, asking))) {
    const loaded = columns.map(column => loadedColumn(catalogue, column)).filter(column => column !== undefined);
    found[name] = looked === undefined ? [] : await distinctValues(looked, company, loaded);
  }
  const siblings = fixedPaths(catalogue);
  const shared = { ...stream.query, ...(mode.limit === undefined ? {} : { limit: mode.limit }) };
  const asked: Question[] = [];
  const unusable: string[] = [];
  for (const { path, query, context } of valueSets(stream, asking, found)) {
    try {
      asked.push({ path: buildPath(stream.path, path, siblings), query: { ...shared, ...query }, context });
    } catch (error) {
      if (!(error instanceof PathError)) throw error;
      unusable.push(error.message);
    }
  }
  return { asked, unusable };
}
