import type { Diff, LoadTarget } from "../../warehouse/merge/load_target.ts";
import { type Causes, causesOfChange } from "../../warehouse/merge/mass_change_causes.ts";
import type { StreamSync } from "../context.ts";

/** More known rows than this share never change in a day by people's work alone. */
const MASS_SHARE = 0.3;
/** Fewer rows cost too little to be worth a word. */
const LEAST_ROWS = 50;
const NAMED = 5;

/** Says which columns did it when so many rows changed that fetching their details again will cost: before it does. */
export async function explainMassChange(sync: StreamSync, target: LoadTarget, diff: Diff): Promise<void> {
  const { context, stream, progress } = sync;
  const asked = [...target.details, ...(target.valueDriven ?? [])];
  const details = asked.filter(detail => context.streams.wanted.has(detail.stream));
  const isMassChange = (rows: number) => rows >= LEAST_ROWS && rows > MASS_SHARE * diff.live;
  if (details.length === 0 || !isMassChange(diff.updated)) return;
  const causes = await causesOfChange(context.destination, target);
  // Rows that came back count as updated too, but no column made them.
  if (!isMassChange(causes.changed)) return;
  const most = details.map(({ stream: name }) =>
    Math.min(causes.changed, context.policy.ofStream(name).maxDetails ?? Infinity),
  );
  const message = sentence(
    stream.name,
    causes,
    diff.live,
    most.reduce((sum, requests) => sum + requests, 0),
  );
  context.log.warn({ stream: stream.name, changed: causes.changed, live: diff.live }, `${stream.name}: ${message}`);
  progress.warnings.push(message);
  progress.announced.push(message);
}

function sentence(stream: string, { changed, columns, estimated }: Causes, live: number, requests: number): string {
  const named = columns.slice(0, NAMED).map(({ name, rows }) => `${name} (${estimated ? "about " : ""}${count(rows)})`);
  const more = columns.length > NAMED ? ` and ${columns.length - NAMED} more` : "";
  const by = named.length === 0 ? "" : `, by ${named.join(", ")}${more}`;
  return (
    `${count(changed)} of ${count(live)} known rows (${Math.round((100 * changed) / live)} %) changed since the last run${by}: ` +
    `their details are fetched again, about ${count(requests)} requests. ` +
    `If such a field changes by itself, name it under streams.settings.${stream}.volatile: from then on nothing is fetched for it. ` +
    `--max-requests, --max-time or max_details bound a run.`
  );
}

const count = (value: number): string => value.toLocaleString("en-US");
