import type { Db } from "../database.ts";
import { putRow } from "../state_rows.ts";

/** A folder with exported tables of this warehouse; `path` is absolute. */
export interface NotedExport {
  readonly path: string;
  readonly policy: string;
}

/** Folders that hold what was exported: a change of privacy outdates them. */
export async function notedExports(db: Db): Promise<readonly NotedExport[]> {
  return db.selectFrom("exports").select(["path", "policy"]).orderBy("path").execute();
}

/** Notes a folder in place of what was noted of it before. `host`: the machine that wrote it. */
export const noteExport = (db: Db, note: NotedExport & { readonly host: string }): Promise<void> =>
  putRow(db, "exports", note);
