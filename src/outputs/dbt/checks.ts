import { INDEX_COLUMN, LINE_ID_COLUMN } from "../../catalog/columns.ts";
import type { Relation } from "../../catalog/relation.ts";
import { asset } from "../../package_root.ts";
import { bare, literal } from "./sql.ts";
import type { PackageTable } from "./tables.ts";
import { type PackageFile, plainly } from "./yaml_file.ts";

export type DataTest = string | Readonly<Record<string, unknown>>;

const UNIQUE = "unique_key";
const RELATED = "related_in_company";
// A longer name would be cut where PostgreSQL keeps failures in a table; dbt then makes one itself.
const LONGEST_NAME = 63;

/** No two rows have the same key; a null is a value here. */
export const uniqueTest = (key: readonly string[]): DataTest => ({
  [UNIQUE]: { arguments: { columns: key.map(bare) } },
});

/** Of the live, or present, lines of a row no two have one id. */
export const oneLineTest = ({ name, key, isHistory }: Pick<PackageTable, "name" | "key" | "isHistory">): DataTest => ({
  [UNIQUE]: {
    ...named(`${name}_one_line`),
    arguments: {
      columns: [...key.filter(part => part !== INDEX_COLUMN && part !== "_valid_from").map(bare), LINE_ID_COLUMN],
    },
    config: { where: `${isHistory ? "_is_current" : "_deleted_at is null"} and ${LINE_ID_COLUMN} is not null` },
  },
});

/** Of the versions of a row one at most is the present one. `key` is that of a version: the row's, and since when it is so. */
export const oneCurrentTest = (table: string, key: readonly string[]): DataTest => ({
  [UNIQUE]: {
    ...named(`${table}_one_current`),
    arguments: { columns: key.filter(name => name !== "_valid_from").map(bare) },
    config: { where: "_is_current" },
  },
});

const named = (name: string) => (name.length > LONGEST_NAME ? {} : { name });

/** Of the values of an assumed relation, how many may have no counterpart: what is true of most is no wrong assumption. */
const MOST_UNMATCHED = 0.2;

/** What is assumed only warns where it is not so. `target` is a call of ref() or source(). */
export function relatedTest({ from, to, certainty, where, kind, note }: Relation, target: string): DataTest {
  const name = `${from.table}_${from.columns.join("_")}_in_${to.table}`;
  const tolerance = certainty === "certain" ? {} : { most_share: MOST_UNMATCHED };
  const config = {
    ...(certainty === "certain" ? {} : { severity: "warn" }),
    ...(where === undefined
      ? {}
      : { where: plainly(`${bare(where.column)} in (${where.values.map(literal).join(", ")})`) }),
  };
  return {
    [RELATED]: {
      ...named(name),
      description: plainly(note),
      arguments: {
        ...{ columns: from.columns.map(bare), to: target, to_columns: to.columns.map(bare), ...tolerance },
        ...(kind === undefined ? {} : { kind: bare(kind) }),
      },
      ...(Object.keys(config).length === 0 ? {} : { config }),
    },
  };
}

/** The package's own tests: dbt's look at one column and know nothing of companies. */
export const checkFiles = (): readonly PackageFile[] =>
  [`macros/${UNIQUE}.sql`, `macros/${RELATED}.sql`, "macros/macros.yml"].map(path => ({
    path,
    text: asset(`dbt/${path}`),
  }));
