import { type Column, INDEX_COLUMN, type Table, type TableSet } from "../catalog/columns.ts";
import { stageColumns } from "../rows/batch.ts";

/** A column of staged rows, in the order of their CSV. */
export type StagedColumn = Pick<Column, "name" | "kind">;

const SEQUENCE: StagedColumn = { name: "_seq", kind: "count" };

/** The columns of a stage's relations, see `Stage`. */
export function stagedColumns({ main, children }: TableSet) {
  const stored = (table: Table): readonly StagedColumn[] => [
    ...stageColumns(table),
    { name: "_extra", kind: "json" },
    { name: "_problems", kind: "json" },
  ];
  const key = main.key.map(name => main.columns.find(column => column.name === name)!);
  return {
    keys: [SEQUENCE, ...key, { name: "_hash", kind: "count" }, { name: "_vhash", kind: "count" }],
    main: [SEQUENCE, ...stored(main)],
    children: children.map(child => [SEQUENCE, { name: INDEX_COLUMN, kind: "count" }, ...stored(child)]),
    outcomes: [
      SEQUENCE,
      { name: "parent_key", kind: "text" },
      { name: "parent_hash", kind: "count" },
      { name: "outcome", kind: "text" },
      { name: "fetched_at", kind: "moment" },
      { name: "reason", kind: "text" },
    ],
  } satisfies Record<string, readonly (StagedColumn | readonly StagedColumn[])[]>;
}
