import type { Stream } from "../../../src/catalog/stream.ts";
import type { Stand } from "../scenario/stand.ts";

/**
 * Where a history is kept, the present versions are the live rows, and no version of a row overlaps another or was true for no
 * time. Columns that were added on the way are left out: not every table of a scenario has them.
 */
export async function faultsOfVersions(stand: Stand, streams: readonly Stream[], company: string): Promise<string[]> {
  const open = await stand.look(
    "left",
    `select stream from _tributary.history where kept_to is null and company = '${company}'`,
  );
  const kept = streams.filter(({ name }) => open?.some(row => row["stream"] === name));
  const checks = kept.flatMap(({ tables: { main, children } }) =>
    [main, ...children].map(table => {
      const stable = table.columns.filter(column => column.kind !== "json" && !column.volatile).map(({ name }) => name);
      const columns = ["_company", ...stable].map(name => `"${name}"`).join(", ");
      const live = `select ${columns} from procurement.${table.name} where _deleted_at is null and _company = '${company}'`;
      const versions = `procurement.${table.name}_versions`;
      const present = `select ${columns} from ${versions} where _valid_to is null and _company = '${company}'`;
      const next = `lead(_valid_from) over (partition by _company, ${table.key.join(", ")} order by _valid_from)`;
      return `select '${table.name}' as name,
        (select count(*) from (${live} except all ${present}) a) as unversioned,
        (select count(*) from (${present} except all ${live}) b) as stale,
        (select count(*) from (select _valid_from, _valid_to, _is_current, ${next} as later from ${versions} where _company = '${company}') v
          where _valid_to <= _valid_from or later < _valid_to or (later is not null and _valid_to is null)
            or _is_current <> (_valid_to is null)) as wrong`;
    }),
  );
  if (checks.length === 0) return [];
  const rows = (await stand.look("left", checks.join(" union all "))) ?? [];
  return rows.flatMap(({ name, ...counts }) =>
    Object.entries(counts)
      .filter(([, count]) => Number(count) > 0)
      .map(([what, count]) => `${name}_versions: ${Number(count)} ${what}`),
  );
}
