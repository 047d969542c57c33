import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Table } from "../../src/columns.ts";

type Query = (text: string) => Promise<unknown>;

const folder = join(import.meta.dirname, "../../models");
const hidden = new Set(["_extra", "_problems", "_first_seen_at"]);

/** Makes the analysts' schema: a view a table, and the models of which no needed table is missing. `daily` names tables of snapshots. */
export async function makeViews(
  query: Query,
  tables: readonly Table[],
  daily: ReadonlySet<string>,
  today: string,
): Promise<ReadonlySet<string>> {
  await query("create schema procurement_analytics");
  await query(`create view procurement_analytics.calendar_today as select date '${today}' as today`);
  for (const { name, columns } of tables) {
    const shown = ["_company", ...columns.map(column => column.name), "_changed_at", "_deleted_at"];
    const latest = daily.has(name)
      ? ` and observed_on = (select max(observed_on) from procurement.${name} l where l._company = t._company)`
      : "";
    const list = shown.filter(column => !hidden.has(column)).map(column => `"${column}"`);
    await query(
      `create view procurement_analytics.${name} as select ${list.join(", ")} from procurement.${name} t where _deleted_at is null${latest}`,
    );
  }
  const there = new Set(["calendar_today", ...tables.map(({ name }) => name)]);
  const models = new Map<string, string>();
  for (const file of await readdir(folder))
    models.set(file.replace(/\.sql$/, ""), await readFile(join(folder, file), "utf8"));
  models.delete("calendar_today");
  const made = new Set<string>();
  for (let more = true; more; ) {
    more = false;
    for (const [name, text] of models) {
      const optional = named(text, "optional").filter(
        other => models.has(other) && named(models.get(other)!, "needs").every(need => there.has(need)),
      );
      if (![...named(text, "needs"), ...optional].every(need => there.has(need))) continue;
      await query(`create view procurement_analytics.${name} as ${fitted(text, there)}`);
      models.delete(name);
      there.add(name);
      made.add(name);
      more = true;
    }
  }
  return made;
}

function named(text: string, kind: "needs" | "optional"): readonly string[] {
  return [...text.matchAll(new RegExp(`^-- ${kind}: (.*)$`, "gm"))].flatMap(([, list]) =>
    list!.split(",").map(name => name.trim()),
  );
}

/** A model without the parts whose tables are missing. */
function fitted(text: string, there: ReadonlySet<string>): string {
  let kept = true;
  const lines: string[] = [];
  for (const line of text.split("\n")) {
    const [, word, name] = /^-- (with|without|end)\b ?(\w*)/.exec(line) ?? [];
    if (word === "end") kept = true;
    else if (word !== undefined) kept = there.has(name!) === (word === "with");
    else if (kept) lines.push(line.replace(/^-- \| /, ""));
  }
  return lines.join("\n");
}
