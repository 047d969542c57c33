import { z } from "zod";
import * as fields from "./fields.ts";
import { type Named, type Program, programName } from "./program_form.ts";

/*
 * Options that can be given in several ways. Each is declared here once: its rule, the word for its value, and its help. A command
 * has `max_time` as `--max-time 4h`, a schedule as `max_time: 4h`, the library and a job as `maxTimeMs: 14400000`.
 */

/** How a command has an option, beyond its rule. */
interface Manner {
  /** What the help calls its default. */
  readonly otherwise?: string;
  /** Its one-letter form. */
  readonly short?: string;
  /** Options by their names in the program. */
  readonly conflicts?: readonly string[];
  readonly implies?: Readonly<Record<string, unknown>>;
}

/** An option that a command requires, unless its rule has a default. `argument` is its value's place in the help such as `<n>`. */
export const required = <S extends z.ZodType>(rule: S, help: string, argument?: string, manner: Manner = {}): S =>
  rule.meta({ description: help, argument, ...manner });

export const option = <S extends z.ZodType>(rule: S, help: string, argument?: string, manner?: Manner) =>
  required(rule, help, argument, manner).optional();

export const flag = (help: string, manner?: Manner) => option(fields.flag(), help, undefined, manner);

/** How a command has an option; undefined: it is none. */
export function mannerOf(
  schema: z.core.$ZodType,
): (Manner & { readonly help: string; readonly argument?: string }) | undefined {
  const { description: help, ...manner } = z.globalRegistry.get(schema) ?? {};
  if (help !== undefined) return { help, ...manner };
  const wraps = schema instanceof z.ZodOptional || schema instanceof z.ZodPrefault || schema instanceof z.ZodDefault;
  return wraps ? mannerOf(schema.unwrap()) : undefined;
}

export type Options = Readonly<Record<string, z.ZodType>>;

type Values<O extends Options> = z.output<z.ZodObject<O>>;

/** Options in the program's form. */
export type Given<O extends Options> = {
  readonly [Key in keyof Values<O> as Named<Key, Values<O>[Key]>]: Program<Values<O>[Key]>;
};

const milliseconds = "expected a number of milliseconds from 0";

type ProgramRules<O extends Options> = {
  [Key in keyof O as Named<Key, z.output<O[Key]>>]: O[Key] extends z.ZodOptional<infer Rule>
    ? z.ZodOptional<z.ZodType<Program<z.output<Rule>>>>
    : z.ZodType<Program<z.output<O[Key]>>>;
};

/** The rules of options in the program's form: of a duration that it is a number of milliseconds. */
export function programRules<O extends Options>(options: O): z.ZodObject<ProgramRules<O>, z.core.$strict> {
  const rules = Object.entries(options).map(([key, schema]) => {
    const name = programName(key, schema);
    if (!name.endsWith("Ms")) return [name, schema];
    const number = z.number({ error: milliseconds }).min(0, { error: milliseconds });
    const { help, argument, otherwise } = mannerOf(schema)!;
    const rule = required(number, help, argument, otherwise === undefined ? {} : { otherwise });
    return [name, schema instanceof z.ZodOptional ? rule.optional() : rule];
  });
  return z.strictObject(Object.fromEntries(rules)) as never;
}

const company = option(fields.name("a company's name"), "work for this company of the configuration only", "<name>");
const workers = flag("have the workers do it (`tributary work`), and follow them; Ctrl-C ends the following");

/** What a run works on; a command has the streams as its arguments. */
export const selectionOptions = {
  streams: option(
    fields.names("a stream's name or pattern"),
    "names, patterns, presets such as preset:standard (default: all that are on)",
  ),
  company,
};

/** When a run stops, and for how long it waits. */
export const limitOptions = {
  max_time: option(fields.duration("0s", "3650d"), "stop at a safe point after e.g. 4h, exit code 5", "<duration>"),
  max_requests: option(fields.whole(0), "stop at a safe point after n requests, exit code 5", "<n>"),
  wait: option(fields.duration("0s", "3650d"), "wait for another run to end, e.g. 30m", "<duration>", {
    otherwise: "not at all",
  }),
};

/** What a sync does beyond what is due. */
export const refreshOptions = {
  full: flag("read lists and feeds whole, whatever the high-water marks say"),
  details: flag("fetch the details of all rows again, unchanged ones too"),
  resume: flag("let --full and --details go on with what a stopped run began; without them a run always does"),
  confirm_deletes: flag("read lists and feeds whole, and accept the deletions that were held back"),
};

export const syncFlags = {
  ...refreshOptions,
  accept_address: flag(
    "the service has another address: compare its company's id and up to 50 rows with what is kept, and record it",
    { conflicts: ["workers", "dryRun"] },
  ),
  workers,
};

export const syncOptions = { ...selectionOptions, ...syncFlags, ...limitOptions };

export const backfillOptions = {
  from: option(
    fields.calendarDate(),
    "from this day on (default: streams.start, else everything, read whole)",
    "<date>",
  ),
  to: option(fields.calendarDate(), "up to this day, itself left out (default: up to now)", "<date>"),
  resume: flag("go on with what is unfinished, whatever dates it has"),
  restart: flag("forget what is unfinished of these streams and begin again"),
  workers,
};

export const uploadOptions = {
  company,
  wait: option(
    fields.duration("0s", "3650d"),
    "until they are processed (10m), then load and show what they became",
    "[duration]",
  ),
  again: flag("send a content once more that was sent before"),
  content_type: option(
    fields.mediaType(),
    "media type of all files, as type/subtype (default: by the ending of each name, for the endings of documents)",
    "<type>",
  ),
};

export const reportOptions = {
  months: required(fields.whole(1, 36).default(12), "how many whole months before the present one, 1 to 36", "<n>"),
};
