import { ConfigError } from "./errors.ts";
import { nearest } from "./nearest.ts";
import { type Preset, type Stream, withVolatile } from "./stream.ts";

/** Which streams a run works on. `named`: the ones that were asked for; the others are there because a named detail needs its list. */
export interface Selection {
  readonly streams: readonly Stream[];
  readonly named: ReadonlySet<string>;
}

const PRESETS: readonly Preset[] = ["core", "standard", "all"];

/** What the config says about which streams are on. */
export interface SelectionConfig {
  readonly preset: Preset;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

/** The streams that the config switches on, in catalogue order. ConfigError names an unknown name and the nearest known one. */
export function selectedByConfig(catalogue: readonly Stream[], config: SelectionConfig): readonly Stream[] {
  const on = new Set(catalogue.filter(stream => inPreset(stream, config.preset)).map(stream => stream.name));
  for (const name of expand(catalogue, config.include, "streams.include")) on.add(name);
  for (const name of expand(catalogue, config.exclude, "streams.exclude")) on.delete(name);
  const excluded = expand(catalogue, config.exclude, "streams.exclude");
  for (const [parent, detail] of parentsOf(catalogue, on)) {
    if (excluded.has(parent)) {
      throw new ConfigError(
        `streams: ${detail} is on, but its parent ${parent} is excluded. Take ${parent} out of streams.exclude, or exclude ${detail} too.`,
      );
    }
    on.add(parent);
  }
  return catalogue.filter(stream => on.has(stream.name));
}

/** The streams of one run: those named on the command line (names, patterns, presets) with the lists their details need, or all that are on. */
export function select(catalogue: readonly Stream[], on: readonly Stream[], names: readonly string[]): Selection {
  if (names.length === 0) return { streams: on, named: new Set() };
  const named = expand(catalogue, names, "stream");
  const wanted = new Set(named);
  for (const [parent] of parentsOf(catalogue, wanted)) wanted.add(parent);
  return { streams: catalogue.filter(stream => wanted.has(stream.name)), named };
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

function expand(catalogue: readonly Stream[], names: readonly string[], where: string): Set<string> {
  const found = new Set<string>();
  for (const name of names) {
    const matches = matching(catalogue, name, where);
    if (matches.length === 0) {
      const close = nearest(
        name,
        catalogue.map(stream => stream.name),
      );
      const hint = close === undefined ? "" : ` Did you mean ${close}?`;
      throw new ConfigError(
        `${where}: there is no stream ${JSON.stringify(name)}.${hint} \`tributary streams\` lists them all.`,
      );
    }
    for (const stream of matches) found.add(stream.name);
  }
  return found;
}

function matching(catalogue: readonly Stream[], name: string, where: string): readonly Stream[] {
  if (name.startsWith("preset:")) {
    const preset = PRESETS.find(candidate => candidate === name.slice("preset:".length));
    if (preset === undefined) {
      throw new ConfigError(
        `${where}: expected preset:core, preset:standard or preset:all, got ${JSON.stringify(name)}.`,
      );
    }
    return catalogue.filter(stream => inPreset(stream, preset));
  }
  if (!name.includes("*")) return catalogue.filter(stream => stream.name === name);
  const pattern = new RegExp(
    `^${name
      .split("*")
      .map(part => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"))
      .join(".*")}$`,
  );
  return catalogue.filter(stream => pattern.test(stream.name));
}

/** What the config may say of a stream that the catalogue has to know. */
interface NamedColumns {
  readonly volatile: readonly string[];
  readonly refresh: { readonly while: string } | undefined;
}

/** The catalogue with the config's further volatile columns; ConfigError for streams or columns that don't exist. */
export function configured(
  catalogue: readonly Stream[],
  settings: Readonly<Record<string, NamedColumns>>,
): readonly Stream[] {
  for (const [name, { volatile, refresh }] of Object.entries(settings)) {
    expand(catalogue, [name], "streams.settings");
    const stream = catalogue.find(candidate => candidate.name === name);
    if (stream === undefined)
      throw new ConfigError(`streams.settings: expected the name of one stream, got ${JSON.stringify(name)}.`);
    const changeable = stream.tables.main.columns.filter(column => !stream.key.includes(column.name));
    for (const column of volatile) {
      demand(
        `streams.settings.${name}.volatile`,
        column,
        changeable.map(each => each.name),
        `column of ${name} that may be volatile`,
      );
    }
    if (refresh === undefined) continue;
    const { mode } = stream;
    const parent = mode.kind === "detail" ? catalogue.find(other => other.name === mode.of) : undefined;
    if (parent === undefined)
      throw new ConfigError(
        `streams.settings.${name}.refresh: ${name} is read whole anyway; only details have a refresh.`,
      );
    const flags = parent.tables.main.columns.filter(column => column.kind === "flag");
    demand(
      `streams.settings.${name}.refresh.while`,
      refresh.while,
      flags.map(each => each.name),
      `true-or-false column of ${parent.name}`,
    );
  }
  return catalogue.map(stream => withVolatile(stream, settings[stream.name]?.volatile ?? []));
}

function demand(where: string, name: string, known: readonly string[], what: string): void {
  if (known.includes(name)) return;
  const close = nearest(name, known);
  throw new ConfigError(`${where}: ${name} is no ${what}.${close === undefined ? "" : ` Did you mean ${close}?`}`);
}

/** The stream at the root of a stream's family: locks cover a list with all its details. */
export function familyOf(catalogue: readonly Stream[], stream: Stream): string {
  const { mode } = stream;
  if (mode.kind !== "detail") return stream.name;
  const parent = catalogue.find(other => other.name === mode.of);
  return parent === undefined ? stream.name : familyOf(catalogue, parent);
}
