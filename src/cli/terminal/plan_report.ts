import { formatCount } from "../../counted.ts";
import type { DetailPlan } from "../../operations/plan.ts";
import { shareText } from "../../warehouse/details/wrong_estimate.ts";
import type { Look } from "./look.ts";
import { streamTable } from "./table.ts";

/** What the next run spends on details, for people. */
export function planReport(plans: readonly DetailPlan[], look: Look): string {
  if (plans.length === 0)
    return "No stream of details is on and loaded: the next run fetches the details of all rows that it finds.";
  const table = streamTable(
    plans,
    [
      ["due", one => one.due],
      ["caused", one => one.looks.caused],
      ["oldest", one => one.looks.oldest],
      ["index", one => one.looks.index],
      ["sample", one => one.looks.sample],
      ["wrong now", one => one.expected_wrong && shareText(one.expected_wrong.now)],
      ["in a month", one => one.expected_wrong && shareText(one.expected_wrong.in_a_month)],
      ["within", one => one.promise && `${shareText(one.promise.expected)} of ${shareText(one.promise.share)}`],
    ],
    look,
    ["due", "within", "wrong now"],
  );
  const legend =
    "Due: new, changed, to be tried again, or due by age; what the lists bring comes on top. Caused, oldest, index, sample: looks at details whose list row did not change. Wrong: the share that changed unseen, as learned rates let expect. Within: the share of active details that are as fresh as `fresh` says, in a month.";
  return [table, legend, ...plans.flatMap(remarks)].join("\n\n");
}

function remarks({ stream, audit, caused_later, estimated_wrong: estimated, promise }: DetailPlan): string[] {
  const broken = (needed: number | null): string =>
    needed === null
      ? "no audit keeps it"
      : `streams.settings.${stream}.audit: ${Number(needed.toFixed(3))} would keep it, it is ${audit}`;
  return [
    ...(caused_later > 0
      ? [`${stream}: ${formatCount(caused_later)} details with a cause wait for a later night.`]
      : []),
    ...(estimated === null
      ? []
      : [
          `${stream}: random looks say that ${shareText(estimated.share)} changed unseen (${shareText(estimated.low)} to ${shareText(estimated.high)}).`,
        ]),
    ...(promise === null || promise.kept
      ? []
      : [
          `${stream}: ${shareText(promise.share)} of active details are to be ${promise.within} days old at most; ${shareText(promise.expected)} will be. ${broken(promise.audit_needed)[0]!.toUpperCase()}${broken(promise.audit_needed).slice(1)}.`,
        ]),
  ];
}
