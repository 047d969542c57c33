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
  for (const stream of catalogue) {
    const { mode } = stream;
    if (mode.kind === "detail" && on.has(stream.name) && !on.has(mode.of)) {
      if (expand(catalogue, config.exclude, "streams.exclude").has(mode.of)) {
        throw new ConfigError(
          `streams: ${stream.name} is on, but its parent ${mode.of} is excluded. Take ${mode.of} out of streams.exclude, or exclude ${stream.name} too.`,
        );
      }
      on.add(mode.of);
    }
  }
  return catalogue.filter(stream => on.has(stream.name));
}

/** The streams of one run: those named on the command line (names, patterns, presets) with the lists their details need, or all that are on. */
export function select(catalogue: readonly Stream[], on: readonly Stream[], names: readonly string[]): Selection {
  if (names.length === 0) return { streams: on, named: new Set() };
  const named = expand(catalogue, names, "stream");
  const wanted = new Set(named);
  for (const stream of catalogue)
    if (stream.mode.kind === "detail" && wanted.has(stream.name)) wanted.add(stream.mode.of);
  return { streams: catalogue.filter(stream => wanted.has(stream.name)), named };
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

/** The catalogue with the config's further volatile columns; ConfigError for streams or columns that don't exist. */
export function configured(
  catalogue: readonly Stream[],
  settings: Readonly<Record<string, { readonly volatile: readonly string[] }>>,
): readonly Stream[] {
  for (const [name, { volatile }] of Object.entries(settings)) {
    expand(catalogue, [name], "streams.settings");
    const stream = catalogue.find(candidate => candidate.name === name)!;
    const columns = stream.tables.main.columns.map(column => column.name);
    for (const column of volatile) {
      if (columns.includes(column) && !stream.key.includes(column)) continue;
      const close = nearest(column, columns);
      throw new ConfigError(
        `streams.settings.${name}.volatile: ${column} is no column of ${name} that may be volatile.${close === undefined ? "" : ` Did you mean ${close}?`}`,
      );
    }
  }
  return catalogue.map(stream => withVolatile(stream, settings[stream.name]?.volatile ?? []));
}

/** The stream at the root of a stream's family: locks cover a list with all its details. */
export function familyOf(catalogue: readonly Stream[], stream: Stream): string {
  const { mode } = stream;
  if (mode.kind !== "detail") return stream.name;
  const parent = catalogue.find(other => other.name === mode.of);
  return parent === undefined ? stream.name : familyOf(catalogue, parent);
}
