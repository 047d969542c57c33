import { join, resolve } from "node:path";
import type { Config } from "../../config/config.ts";
import { formatCount } from "../../counted.ts";
import { ConfigError, DestinationError, LockedError } from "../../errors.ts";
import { type Given, required } from "../../options/options.ts";
import type { StreamDescription } from "../../outputs/dictionary/stream_description.ts";
import type { WarehouseSample } from "../../outputs/dictionary/warehouse_sample.ts";
import type { OwnedFile } from "../../outputs/owned_folder.ts";
import type { CliContext } from "../invocation/context.ts";
import { configIfAny } from "../invocation/optional_config.ts";
import { type CommonOptions, defined, localPath, unless } from "../invocation/options.ts";
import { commandMessages } from "./messages.ts";

const own = {
  out: required(localPath().default("docs-site"), "folder to write to; made if it isn't there", "<dir>"),
  examples: unless("don't look into the warehouse: no values, no counts"),
};

type DocsOptions = CommonOptions & Given<typeof own>;

export const register = defined({
  description:
    "Write the data dictionary: every table and column, what it means, its type, where it comes from and how tables hang together, as one searchable page and as Markdown. Needs no configuration; with one whose warehouse can be reached, examples and row counts stand in it. Written again, it replaces its own files and leaves all others alone. Takes no lock and changes nothing in the warehouse.",
  options: [own, "company", "config", "json", "log"],
  examples: [
    "tributary docs",
    "tributary docs --out public/dictionary",
    "tributary docs --no-examples      # nothing in it but what the program knows",
  ],
  notes:
    "\nExamples are numbers, dates, flags, identifiers and labels of one word from a few rows; columns that may name a person or\nhold what somebody wrote show none.",
  run: docs,
});

async function docs(options: DocsOptions, context: CliContext): Promise<void> {
  const config = (await configIfAny(options, context, "The dictionary shows what there can be, without examples."))
    ?.config;
  if (config === undefined && options.company !== undefined)
    throw new ConfigError(commandMessages.docs_company_without_config());
  const dictionary = await describe(config, options, context);
  const files = await filesOf(dictionary);
  const folder = resolve(context.cwd, options.out);
  const { writeOwned } = await import("../../outputs/owned_folder.ts");
  await writeOwned(folder, files, "tributary docs");
  const tables = dictionary.domains.flatMap(domain => domain.tables);
  const told = {
    out: folder,
    files: files.map(({ path }) => path),
    tables: tables.length,
    columns: tables.reduce((sum, table) => sum + table.own.length, 0),
    views: dictionary.models.length,
    examples: dictionary.sample !== undefined,
  };
  if (options.json) return context.printJson(told);
  context.print(
    `${formatCount(told.tables)} tables, ${formatCount(told.columns)} columns, ${told.views} views${told.examples ? ", with examples from the warehouse" : ""}: open ${join(folder, "index.html")}`,
  );
}

async function describe(config: Config | undefined, options: DocsOptions, context: CliContext) {
  const { groups } = await import("../../../streams/index.ts");
  const { noRelations, relationsOf } = await import("../../../streams/relations.ts");
  const { unconfigured } = await import("../../config/config.ts");
  const { describeStreams } = await import("../../outputs/dictionary/stream_description.ts");
  const { analyticsSchema } = await import("../../warehouse/views/view.ts");
  const { configuredStreams, readMadeColumns, readModels, warehouseOrder } = await import("../../library/connector.ts");
  const { dialectOf } = await import("../../warehouse/connect/open.ts");
  const { viewsOf } = await import("../../warehouse/schema/ddl_script.ts");
  const { dictionaryOf } = await import("../../outputs/dictionary/dictionary.ts");
  const shown = config ?? unconfigured();
  const { catalogue, on, versioned } = await configuredStreams(shown);
  // Without a configuration nothing is off: the dictionary shows all there can be.
  const streams = config === undefined ? catalogue : on;
  const described = describeStreams(groups, catalogue, new Set(streams.map(({ name }) => name)));
  const { schema, stateSchema } = shown.destination;
  const program = await readModels();
  const order = await warehouseOrder(shown, program, { catalogue, streams, versioned });
  return dictionaryOf({
    schemas: { data: schema, views: shown.views ? analyticsSchema(schema) : undefined, state: stateSchema },
    versioned,
    streams: described,
    models: shown.views ? program.models : [],
    made: shown.views ? await readMadeColumns() : {},
    // As this configuration has them made.
    selects: new Map(viewsOf(dialectOf(shown.destination), order).map(({ name, select }) => [name, select])),
    relations: relationsOf(catalogue),
    apart: noRelations,
    sample: config === undefined || !options.examples ? undefined : await look(config, described, options, context),
  });
}

/** A warehouse that cannot be read is reported, and the dictionary is made without examples. */
async function look(
  config: Config,
  streams: readonly StreamDescription[],
  options: DocsOptions,
  context: CliContext,
): Promise<WarehouseSample | undefined> {
  const { companiesOf } = await import("../../sync/run/run.ts");
  const { openReading } = await import("../../warehouse/connect/reading.ts");
  const { readWarehouseSample } = await import("../../outputs/dictionary/warehouse_sample.ts");
  companiesOf(config, options.company);
  try {
    await using reading = await openReading(config.destination);
    if (reading !== undefined) return await readWarehouseSample(reading, streams, options.company, context.redact);
    context.stderr.write("Nothing has been loaded yet: the dictionary has no examples.\n");
  } catch (error) {
    if (!(error instanceof DestinationError || error instanceof LockedError)) throw error;
    context.stderr.write(`${context.redact(error.message)}\nThe dictionary has no examples.\n`);
  }
  return undefined;
}

async function filesOf(dictionary: Awaited<ReturnType<typeof describe>>): Promise<readonly OwnedFile[]> {
  const { dictionaryDocument } = await import("../../outputs/dictionary/dictionary_page.ts");
  const { dictionaryMarkdown } = await import("../../outputs/dictionary/markdown.ts");
  const markdown = dictionaryMarkdown(dictionary).map(({ name, text }) => ({ path: `markdown/${name}`, text }));
  return [{ path: "index.html", text: dictionaryDocument(dictionary) }, ...markdown];
}
