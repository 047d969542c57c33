import { Argument } from "commander";
import { formatCount } from "../../counted.ts";
import { ConfigError, nothingLoaded } from "../../errors.ts";
import { nearest } from "../../nearest_name.ts";
import type { MeaningsOrder, SeenMeaning } from "../../operations/meanings.ts";
import type { CliContext } from "../invocation/context.ts";
import { type CommonOptions, defined } from "../invocation/options.ts";
import type { Look } from "../terminal/look.ts";
import { cutText, rowTable } from "../terminal/table.ts";
import { commandMessages } from "./messages.ts";

const RESOURCES = { memoryLimitMb: 512, threads: 2 } as const;

export const register = defined({
  arguments: [
    new Argument("[meaning...]", "credit, paid, held, open, late, processed, dismissed or resolved (default: all)"),
  ],
  description:
    "Show what the models take rows for, by which lines of the configuration, and the values that stand in the columns that say it or may. Nothing is written.",
  options: ["company", "config", "json", "log"],
  examples: [
    "tributary meanings",
    "tributary meanings credit paid",
    "tributary meanings --json | jq '.meanings[].columns'",
  ],
  run: meanings,
});

async function meanings(names: readonly string[], options: CommonOptions, context: CliContext): Promise<void> {
  const { config } = await context.openConfig(options, { local: true });
  if (!config.views) throw new ConfigError(commandMessages.meanings_without_views());
  const { companiesOf } = await import("../../sync/run/run.ts");
  const { configuredStreams } = await import("../../library/connector.ts");
  const { meanings: known } = await import("../../../streams/meanings.ts");
  const all = known.map(({ name }) => name);
  const unknown = names.find(name => !all.includes(name));
  if (unknown !== undefined)
    throw new ConfigError(commandMessages.meanings_unknown({ known: all, name: unknown, near: nearest(unknown, all) }));
  const order: MeaningsOrder = {
    meanings: known.filter(({ name }) => names.length === 0 || names.includes(name)),
    catalogue: (await configuredStreams(config)).catalogue,
    tests: config.meanings,
    companies: companiesOf(config, options.company).map(({ name }) => name),
  };
  const { openReading } = await import("../../warehouse/connect/reading.ts");
  await using reading = await openReading(config.destination, RESOURCES);
  if (reading === undefined) throw nothingLoaded("a warehouse to look at");
  const { seenMeanings } = await import("../../operations/meanings.ts");
  const seen = await seenMeanings(reading, order);
  if (options.json) return context.printJson({ meanings: seen });
  const look = context.look();
  const parts = seen.map(each => inWords(each, look));
  context.print(
    parts.length === 0 ? "None of the tables that meanings are read from has been loaded." : parts.join("\n\n"),
  );
}

const share = (part: number, whole: number): string => (whole === 0 ? "" : `${((100 * part) / whole).toFixed(1)} %`);

function inWords({ rules, columns, ...seen }: SeenMeaning, look: Look): string {
  const { meaning, table, taken_for, left_out_of, rows, yes, no, not_known } = seen;
  const left = left_out_of === null ? "" : `, left out of ${left_out_of}`;
  const standing = `${formatCount(rows)} rows of ${table}: ${formatCount(yes)} are taken for ${taken_for}${left}; ${formatCount(no)} are not, ${formatCount(not_known)} are not known.`;
  const tables = columns.map(({ column, values, more }) =>
    rowTable(
      [...values, ...(more ? [undefined] : [])],
      [
        [`${table}.${column}`, each => (each === undefined ? "…" : cutText(each.value ?? "(empty)", 60))],
        ["rows", each => each?.rows ?? null, "right"],
        [taken_for, each => each?.yes ?? null, "right"],
      ],
      look,
    ),
  );
  const none = `No line of the configuration says which: set meanings.${meaning}, such as { column: [value] }.`;
  const ruled = rowTable(
    rules,
    [
      ["", rule => rule.line],
      ["", rule => rule.touched],
      ["", rule => share(rule.touched, rows), "right"],
    ],
    look,
  );
  return [`${meaning}\n${standing}`, rules.length === 0 ? none : ruled, ...tables].join("\n\n");
}
