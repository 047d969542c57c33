import type { Command } from "commander";
import type { MeaningTests } from "../../catalog/meaning.ts";
import { formatCount } from "../../counted.ts";
import { ConfigError, nothingLoaded } from "../../errors.ts";
import type { Change, MeaningsOrder, SeenMeaning } from "../../operations/meanings.ts";
import type { WarehouseReading } from "../../warehouse/connect/reading.ts";
import type { CliContext } from "../invocation/context.ts";
import { attachOptions, type CommonOptions } from "../invocation/options.ts";
import type { Look } from "../terminal/look.ts";
import { cutText, rowTable } from "../terminal/table.ts";
import { commandMessages } from "./messages.ts";

interface MeaningsOptions extends CommonOptions {
  readonly try: readonly string[];
}

const RESOURCES = { memoryLimitMb: 512, threads: 2 } as const;

export function register(command: Command, context: CliContext): void {
  command
    .argument("[meaning...]", "credit, paid, held, open, late, processed, dismissed or resolved (default: all)")
    .description(
      "Show what the models take rows for, by which lines of the configuration, and the values that stand in the columns that say it or may. --try shows what another line would change; nothing is written.",
    )
    .option(
      "--try <line>",
      "a line as it would stand under meanings, such as 'credit.doc_type: [\"*gutschrift*\"]'; may be repeated",
      (line: string, lines: readonly string[]) => [...lines, line],
      [] as readonly string[],
    );
  attachOptions(
    command,
    ["company", "config", "json", "log"],
    "tributary meanings",
    'tributary meanings credit --try \'credit.doc_type: ["*gutschrift*", "*credit*"]\'',
    "tributary meanings --json | jq '.meanings[].columns'",
  ).action((names: readonly string[], options: MeaningsOptions) => meanings(names, options, context));
}

async function meanings(names: readonly string[], options: MeaningsOptions, context: CliContext): Promise<void> {
  const { config } = await context.openConfig(options, { local: true });
  if (!config.views) throw new ConfigError(commandMessages.meanings_without_views());
  const { companiesOf } = await import("../../sync/run/run.ts");
  const { configuredStreams } = await import("../../library/connector.ts");
  const { meanings: known } = await import("../../../streams/meanings.ts");
  const unknown = names.find(name => !known.some(meaning => meaning.name === name));
  if (unknown !== undefined)
    throw new ConfigError(commandMessages.meanings_unknown({ known: known.map(({ name }) => name), name: unknown }));
  const proposed = await proposal(options.try, config.meanings);
  const order: MeaningsOrder = {
    meanings: known.filter(({ name }) => names.length === 0 || names.includes(name)),
    catalogue: (await configuredStreams(config)).catalogue,
    tests: config.meanings,
    companies: companiesOf(config, options.company).map(({ name }) => name),
  };
  const { openReading } = await import("../../warehouse/connect/reading.ts");
  await using reading = await openReading(config.destination, RESOURCES);
  if (reading === undefined) throw nothingLoaded("a warehouse to look at");
  await show(reading, order, proposed, options, context);
}

async function show(
  reading: WarehouseReading,
  order: MeaningsOrder,
  proposed: MeaningTests | undefined,
  options: MeaningsOptions,
  context: CliContext,
): Promise<void> {
  const { proposedChanges, seenMeanings } = await import("../../operations/meanings.ts");
  const seen = await seenMeanings(reading, order);
  const changes = proposed === undefined ? undefined : await proposedChanges(reading, order, proposed);
  if (options.json) return context.printJson({ meanings: seen, ...(changes === undefined ? {} : { changes }) });
  const look = context.look();
  const parts = seen.map(each => inWords(each, look));
  if (changes !== undefined) parts.push(changesInWords(changes, look));
  context.print(
    parts.length === 0 ? "None of the tables that meanings are read from has been loaded." : parts.join("\n\n"),
  );
}

/** The configuration's tests with the proposed lines in the place of their own. */
async function proposal(lines: readonly string[], tests: MeaningTests): Promise<MeaningTests | undefined> {
  if (lines.length === 0) return undefined;
  const { parseConfigDocument } = await import("../../config/yaml_document.ts");
  const { configSchema } = await import("../../config/schema.ts");
  const proposed = new Map(Object.entries(tests));
  for (const line of lines) {
    const [, meaning = "", column = "", value = ""] = /^(?:meanings\.)?(\w+)\.(\w+):\s*(.+)$/.exec(line.trim()) ?? [];
    const { values } = parseConfigDocument(`${meaning || "none"}: { ${column || "none"}: ${value} }`, "--try");
    const read = configSchema.shape.meanings.safeParse(values);
    if (!read.success)
      throw new ConfigError(commandMessages.meanings_line({ line, reason: read.error.issues[0]!.message }));
    proposed.set(meaning, { ...proposed.get(meaning), ...read.data[meaning as keyof typeof read.data] });
  }
  return Object.fromEntries(proposed);
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

function changesInWords(changes: readonly Change[], look: Look): string {
  if (changes.length === 0) return "The proposed lines would change nothing.";
  const word = (is: boolean | null) => (is === null ? "not known" : is ? "yes" : "no");
  return rowTable(
    changes,
    [
      ["would change", change => change.meaning],
      ["from", change => word(change.before)],
      ["to", change => word(change.after)],
      ["rows", change => change.rows],
      ["amount", change => change.amount, "right"],
      ["", change => change.currency_code ?? "unknown currency"],
    ],
    look,
  );
}
