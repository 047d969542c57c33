import type { Db } from "../database.ts";

/** A folder with exported tables of this warehouse; `path` is absolute, `host` the machine that wrote it. */
export interface NotedExport {
  readonly path: string;
  readonly host: string;
}

/** Folders that hold what was exported: a change of privacy has to reach them. */
export async function notedExports(db: Db): Promise<readonly NotedExport[]> {
  return db.selectFrom("exports").select(["path", "host"]).orderBy("path").orderBy("host").execute();
}

/** Notes a folder; one that is noted stays as it is. */
export async function noteExport(db: Db, { path, host }: NotedExport, now: string): Promise<void> {
  await db.transaction().execute(async trx => {
    const known = await trx
      .selectFrom("exports")
      .select("noted_at")
      .where(({ and }) => and({ path, host }))
      .executeTakeFirst();
    if (known === undefined) await trx.insertInto("exports").values({ path, host, noted_at: now }).execute();
  });
}

/** For a folder that is gone. */
export async function forgetExport(db: Db, { path, host }: NotedExport): Promise<void> {
  await db
    .deleteFrom("exports")
    .where(({ and }) => and({ path, host }))
    .execute();
}
