import { Argument } from "commander";
import type { Config } from "../../config/config.ts";
import { formatCount } from "../../counted.ts";
import type { RejectsOrder } from "../../operations/rejects.ts";
import { whole } from "../../options/fields.ts";
import { flag, type Given, required } from "../../options/options.ts";
import type { CliContext } from "../invocation/context.ts";
import { type CommonOptions, defined } from "../invocation/options.ts";
import { cutText, rowTable } from "../terminal/table.ts";

const own = {
  problems: flag("values instead of rows: their rows are stored, the column is NULL and _problems has the text"),
  all: flag("also what is over (rows that were loaded later or are no longer sent), and details that answered 404"),
  limit: required(whole(1).default(50), "how many to show", "<n>"),
};

type RejectsOptions = CommonOptions & Given<typeof own>;

export const register = defined({
  arguments: [new Argument("[stream]", "a stream, a pattern or a preset (default: all)")],
  description:
    "Show rows that cannot be stored and details that could not be fetched, or values that cannot be read, with the reason.",
  options: [own, "company", "config", "json", "log"],
  examples: [
    "tributary rejects",
    "tributary rejects purchase_orders --problems",
    "tributary rejects --json --limit 1000 | jq '.rejects[].raw'",
  ],
  run: rejects,
});

async function rejects(name: string | undefined, options: RejectsOptions, context: CliContext): Promise<void> {
  const { config } = await context.openConfig(options, { local: true });
  const look = context.look();
  const order = await orderOf(name, options, config);
  const { readProblems, readRejects } = await import("../../operations/rejects.ts");
  if (options.problems) {
    const found = await readProblems(config.destination, order);
    if (options.json) return context.printJson({ total: found?.total ?? 0, problems: found?.rows ?? [] });
    if (found === undefined || found.total === 0)
      return context.print(none(found, "No table holds a value that could not be read."));
    const table = rowTable(
      found.rows,
      [
        ["last seen", row => row.last_seen_at.slice(0, 19)],
        ["column", row => `${row.table_name}.${row.column_name}`],
        ["rows", row => row.rows],
        ["reason", row => row.reason],
        ["example", row => cutText(row.example ?? "", 60)],
      ],
      look,
      { first: ["column", "reason", "rows", "example"], pinned: 0 },
    );
    return context.print(`${table}${more(found.total, found.rows.length)}`);
  }
  const found = await readRejects(config.destination, order);
  const missed = found?.details ?? { total: 0, rows: [] };
  if (options.json)
    return context.printJson({ total: found?.total ?? 0, rejects: found?.rows ?? [], details: missed.rows });
  if (missed.total > 0) {
    const details = rowTable(
      missed.rows,
      [
        ["requested", row => row.fetched_at.slice(0, 19)],
        ["stream", row => row.stream],
        ["key", row => cutText(row.parent_key, 40)],
        ["outcome", row => row.outcome],
        ["reason", row => cutText(row.reason ?? "", 80)],
        ["next try", row => row.next_try?.slice(0, 19) ?? ""],
      ],
      look,
      { first: ["stream", "key", "outcome", "reason", "next try"], pinned: 0 },
    );
    context.print(`${details}${more(missed.total, missed.rows.length)}\n`);
  }
  if (found === undefined || found.total === 0)
    return context.print(none(found, options.all ? "No row was rejected." : "No row is rejected."));
  const table = rowTable(
    found.rows,
    [
      ["last seen", row => row.seen_at.slice(0, 19)],
      ["stream", row => row.stream],
      ["key", row => cutText(row.key ?? "", 40)],
      ["reason", row => row.reason],
      ["field", row => row.field],
      ["times", row => formatCount(row.times)],
      ["rows", row => formatCount(row.rows)],
      ["row", row => cutText(JSON.stringify(row.raw), 80)],
    ],
    look,
    { first: ["stream", "key", "reason", "field", "row"], pinned: 0 },
  );
  context.print(`${table}${more(found.total, found.rows.length)}\n\n--json shows the rows whole.`);
}

async function orderOf(name: string | undefined, options: RejectsOptions, config: Config): Promise<RejectsOrder> {
  const { companiesOf } = await import("../../sync/run/run.ts");
  const { select } = await import("../../config/selection.ts");
  const { streams } = await import("../../../streams/index.ts");
  return {
    companies: companiesOf(config, options.company).map(company => company.name),
    streams: name === undefined ? undefined : [...select(streams, streams, [name]).named],
    limit: options.limit,
    all: options.all ?? false,
  };
}

const none = (found: object | undefined, sentence: string): string =>
  found === undefined ? "Nothing has been loaded yet: `tributary sync` loads." : sentence;

const more = (total: number, shown: number): string =>
  total > shown ? `\n… and ${formatCount(total - shown)} more (--limit)` : "";
