import { type Asking, isAsked, lookupOf } from "../catalog/lookup.ts";
import type { Preset, Stream } from "../catalog/stream.ts";
import { ConfigError, noting, refuse } from "../errors.ts";
import type { Message } from "../message.ts";
import { nearest, wildcard } from "../nearest_name.ts";
import { configMessages } from "./messages.ts";
import { requiredOf } from "./settings.ts";

/** Which streams a run works on. `named`: the ones that were asked for; the others are there because a named detail needs its list. */
export interface Selection {
  readonly streams: readonly Stream[];
  readonly named: ReadonlySet<string>;
}

const PRESETS: readonly Preset[] = ["core", "standard", "all"];

export interface SelectionConfig {
  readonly preset: Preset;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  /** Lookups without values here are off. */
  readonly settings?: Settings;
}

/** What the config says of single streams, as far as it decides whether they are on. */
type Settings = Readonly<Record<string, Asking>>;

/** The streams that the config switches on, in catalogue order. ConfigError names an unknown name and the nearest known one. */
export function selectedByConfig(catalogue: readonly Stream[], config: SelectionConfig): readonly Stream[] {
  const { settings = {} } = config;
  const byItself = (stream: Stream) => stream.preset === "lookup" || inPreset(stream, config.preset);
  const on = new Set(catalogue.filter(byItself).map(stream => stream.name));
  const faults: Message[] = [];
  const named = (key: "include" | "exclude") =>
    noting(faults, () => expand(catalogue, config[key], `streams.${key}`)) ?? new Set<string>();
  for (const name of named("include")) on.add(name);
  noting(faults, () => leaveUnasked(catalogue, on, settings, config.include, "streams.include"));
  const excluded = named("exclude");
  for (const name of excluded) on.delete(name);
  refuse(faults);
  for (const [parent, detail] of parentsOf(catalogue, on)) {
    if (excluded.has(parent)) throw new ConfigError(configMessages.excluded_parent({ stream: detail, parent }));
    on.add(parent);
  }
  return catalogue.filter(stream => on.has(stream.name));
}

/**
 * The streams of one run: those named on the command line (names, patterns, presets) with the lists their details need, or all
 * that are on. @throws ConfigError where none is on
 */
export function select(
  catalogue: readonly Stream[],
  on: readonly Stream[],
  names: readonly string[],
  settings?: Settings,
): Selection {
  if (names.length === 0) {
    if (on.length === 0) throw new ConfigError(configMessages.no_stream_on());
    return { streams: on, named: new Set() };
  }
  const named = expand(catalogue, names, "stream");
  if (settings !== undefined) leaveUnasked(catalogue, named, settings, names, "stream");
  const wanted = new Set(named);
  for (const [parent] of parentsOf(catalogue, wanted)) wanted.add(parent);
  return { streams: catalogue.filter(stream => wanted.has(stream.name)), named };
}

/**
 * The names (patterns, presets) and, of each list among the streams they name, the details that are on: they hang on its rows.
 * @throws ConfigError for a name that there is not
 */
export function withDetails(
  catalogue: readonly Stream[],
  on: readonly Stream[],
  names: readonly string[],
): readonly string[] {
  const wanted = expand(catalogue, names, "stream");
  const details = on.filter(stream => wanted.has(lockGroupOf(catalogue, stream)) && !wanted.has(stream.name));
  return [...names, ...details.map(({ name }) => name)];
}

/** Lookups that the config gives no values are left out, unless one is asked for by its name: then the keys to set are told. */
function leaveUnasked(
  catalogue: readonly Stream[],
  wanted: Set<string>,
  settings: Settings,
  names: readonly string[],
  where: string,
): void {
  const unasked = catalogue.filter(stream => lookupOf(stream) !== undefined && wanted.has(stream.name));
  for (const stream of unasked.filter(each => !isAsked(each, settings[each.name]))) {
    if (names.includes(stream.name))
      throw new ConfigError(configMessages.lookup_without_values({ where, ...requiredOf(stream) }));
    wanted.delete(stream.name);
  }
}

/** The lists that details in `wanted` hang on, up to the root, each with the detail that needs it. */
function parentsOf(catalogue: readonly Stream[], wanted: ReadonlySet<string>): ReadonlyMap<string, string> {
  const parents = new Map<string, string>();
  const climb = (stream: Stream | undefined): void => {
    if (stream?.mode.kind !== "detail") return;
    const { of } = stream.mode;
    if (!wanted.has(of)) parents.set(of, stream.name);
    climb(catalogue.find(other => other.name === of));
  };
  for (const name of wanted) climb(catalogue.find(stream => stream.name === name));
  return parents;
}

function inPreset(stream: Stream, preset: Preset): boolean {
  return PRESETS.indexOf(stream.preset) >= 0 && PRESETS.indexOf(stream.preset) <= PRESETS.indexOf(preset);
}

/** @throws ConfigError that names each name there is not, with the nearest one there is */
export function expand(catalogue: readonly Stream[], names: readonly string[], where: string): Set<string> {
  const faults: Message[] = [];
  const found = names.flatMap(name => noting(faults, () => matching(catalogue, name, where)) ?? []);
  refuse(faults);
  return new Set(found.map(stream => stream.name));
}

function matching(catalogue: readonly Stream[], name: string, where: string): readonly Stream[] {
  if (name.startsWith("preset:")) {
    const preset = PRESETS.find(candidate => candidate === name.slice("preset:".length));
    if (preset === undefined) throw new ConfigError(configMessages.unknown_preset({ where, name }));
    return catalogue.filter(stream => inPreset(stream, preset));
  }
  const pattern = wildcard(name);
  const matches = catalogue.filter(stream => pattern.test(stream.name));
  if (matches.length > 0) return matches;
  const names = catalogue.map(stream => stream.name);
  throw new ConfigError(configMessages.unknown_stream({ where, name, near: nearest(name, names) }));
}

/** The names of those streams of which the config has every version of a row kept. */
export function versionedBy(
  streams: readonly Pick<Stream, "name">[],
  config: {
    readonly defaults: { readonly history: boolean };
    readonly settings: Readonly<Record<string, { readonly history: boolean | undefined }>>;
  },
): ReadonlySet<string> {
  const { defaults, settings } = config;
  return new Set(streams.map(({ name }) => name).filter(name => settings[name]?.history ?? defaults.history));
}

/** The stream at the root of a stream's family: locks cover a list with all its details. */
export function lockGroupOf(catalogue: readonly Stream[], stream: Stream): string {
  const { mode } = stream;
  if (mode.kind !== "detail") return stream.name;
  const parent = catalogue.find(other => other.name === mode.of);
  return parent === undefined ? stream.name : lockGroupOf(catalogue, parent);
}
