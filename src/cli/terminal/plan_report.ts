import { counted, formatCount } from "../../counted.ts";
import type { DetailPlan } from "../../operations/estimate/plan.ts";
import { shareText } from "../../warehouse/details/wrong_estimate.ts";
import type { Look } from "./look.ts";
import { streamTable } from "./table.ts";

/** The plan for people, in blocks: a line for each stream. `isWhole`: the figures behind them, too. */
export function planReport(plans: readonly DetailPlan[], look: Look, isWhole: boolean): readonly string[] {
  if (plans.length === 0) return [];
  const several = new Set(plans.map(({ company }) => company)).size > 1;
  const lines = plans.map(plan => `${several ? `${plan.company}, ` : ""}${plan.stream}: ${inWords(plan)}`);
  return [["With a run each night:", ...lines].join("\n"), ...(isWhole ? [planTable(plans, look), legend] : [])];
}

function inWords({ audit, caused_later, oldest_days, change_unseen }: DetailPlan): string {
  const age =
    oldest_days === null
      ? `\`audit: ${audit}\` re-fetches no detail for its age`
      : `details are at most ${counted(oldest_days, "day")} old`;
  const change =
    change_unseen === null
      ? "no look has shown yet how many change unseen"
      : `about ${formatCount(Math.round(change_unseen))} change unseen a night`;
  const later =
    caused_later === 0 ? "" : ` ${counted(caused_later, "detail")} with a cause must wait for a later night.`;
  return `${age}; ${change}.${later}`;
}

const planTable = (plans: readonly DetailPlan[], look: Look): string =>
  streamTable(
    plans,
    [
      ["due", one => one.due],
      ["caused", one => one.looks.caused],
      ["oldest", one => one.looks.oldest],
      ["index", one => one.looks.index],
      ["sample", one => one.looks.sample],
      ["wrong now", one => one.estimated_wrong && shareText(one.estimated_wrong.share)],
      ["in a week", one => (one.wrong_in_a_week === null ? null : shareText(one.wrong_in_a_week))],
    ],
    look,
  );

const legend =
  "Due: new, changed, to be tried again, or due by age; rows that the lists bring come on top. Caused, oldest, index, sample: looks at details whose list row did not change. Wrong: the share that changed unseen, by the random looks of a week.";
