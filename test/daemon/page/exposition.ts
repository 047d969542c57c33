/** A scrape, read as Prometheus reads it. */
export interface Exposition {
  /** By metric: its type, help, and its samples by labels as written, e.g. `{company="acme"}` or "". */
  readonly metrics: ReadonlyMap<
    string,
    { readonly type: string; readonly help: string; readonly samples: ReadonlyMap<string, number> }
  >;
  /** One sample; undefined when it is absent. */
  value(name: string, labels?: string): number | undefined;
}

const sample = /^([a-z_:][a-z0-9_:]*)((?:\{(?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)*\})?) (\S+)$/;

/** Reads the text format line by line. @throws Error for a line that is none, a sample without HELP and TYPE before it, or one said twice */
export function exposition(text: string): Exposition {
  if (!text.endsWith("\n")) throw new Error("the last line has no end");
  const metrics = new Map<string, { type: string; help: string; samples: Map<string, number> }>();
  const helps = new Map<string, string>();
  for (const line of text.split("\n").filter(each => each !== "")) {
    const comment = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line);
    if (comment !== null) {
      const [, kind, name = "", rest = ""] = comment;
      if (kind === "HELP") helps.set(name, rest);
      else if (metrics.has(name)) throw new Error(`two TYPE lines: ${line}`);
      else metrics.set(name, { type: rest, help: helps.get(name) ?? "", samples: new Map() });
      continue;
    }
    const found = sample.exec(line);
    if (found === null) throw new Error(`no line of the text format: ${line}`);
    const [, name = "", labels = "", value = ""] = found;
    const metric = metrics.get(name);
    if (metric === undefined) throw new Error(`no TYPE before ${line}`);
    if (metric.samples.has(labels)) throw new Error(`said twice: ${line}`);
    if (!Number.isFinite(Number(value))) throw new Error(`no number: ${line}`);
    metric.samples.set(labels, Number(value));
  }
  return { metrics, value: (name, labels = "") => metrics.get(name)?.samples.get(labels) };
}

/** What is wrong with the names and helps, by Prometheus' own rules (promtool check metrics). */
export function lint({ metrics }: Exposition): string[] {
  return [...metrics].flatMap(([name, { type, help }]) => [
    ...(name.startsWith("tributary_") ? [] : [`${name}: no prefix`]),
    ...(help === "" ? [`${name}: no HELP`] : []),
    ...(/^(counter|gauge)$/.test(type) ? [] : [`${name}: type ${type}`]),
    ...(type === "counter" && !name.endsWith("_total") ? [`${name}: a counter ends with _total`] : []),
    ...(type !== "counter" && name.endsWith("_total") ? [`${name}: only a counter ends with _total`] : []),
    ...(/_(ms|milliseconds|minutes|hours|days|kb|mb|percent)(_|$)/.test(name) ? [`${name}: no base unit`] : []),
  ]);
}
