import { counted, formatCount } from "../../counted.ts";
import { timespan } from "../../duration.ts";
import { failureKinds } from "../../errors.ts";
import { catalog, template } from "../../message.ts";
import type { Formats } from "../../rows/moment.ts";
import type { Unanswered } from "../../source/api.ts";
import type { CurrencyCoverage } from "../../warehouse/read/currency_coverage.ts";

const dates = { from: "2023-01-01" as string | undefined, to: "2024-01-01" as string | undefined };

/** `from 2023-01-01 to 2024-01-01`. */
export function datesInWords({ from, to }: typeof dates): string {
  return `${from === undefined ? "from the oldest row" : `from ${from}`} ${to === undefined ? "up to now" : `to ${to}`}`;
}

/** `GET /po since 12 s (attempt 1, and 3 other requests)`. */
export function requestInWords({ method, path, attempt, sinceMs, others }: Unanswered): string {
  const more = others === 0 ? "" : `, and ${others} other requests`;
  return `${method} ${path} since ${timespan(sinceMs)} (attempt ${attempt}${more})`;
}

const formatsInWords = ({ dates, timezone }: Formats) => `dates [${dates.join(", ")}] and timezone ${timezone}`;

const formats: Formats = { dates: ["MM/DD/YYYY"], timezone: "Europe/Berlin" };

const request = { method: "GET" as Unanswered["method"], path: "/items", attempt: 1, since_ms: 12_000, others: 3 };

const moved = {
  ...{ company: "acme", from: "https://old.example.com", to: "https://new.example.com" },
  ...{ requested: 50, found: 3 },
};

const MOST_CURRENCIES = 5;

const coverageInWords = ({ currency, rows, unconverted }: CurrencyCoverage): string =>
  `${currency ?? "without a known currency"} ${formatCount(unconverted)} of ${formatCount(rows)}`;

const percent = (value: number) => `${(100 * value).toFixed(value > 0.1 ? 0 : 1)} %`;

export const runMessages = catalog("run", {
  done: "done",
  stopped: "stopped; what was read is kept",
  prepared: template({ done: "made the view items anew" }, ({ done }) => done),
  asking_again: "asking again",
  waiting_for_answer: template(
    request,
    ({ since_ms, ...request }) => `waiting for ${requestInWords({ ...request, sinceMs: since_ms })}`,
  ),
  undocumented_envelope:
    "The answer to {path=/po} has fields around its data that are not documented: {fields[]=warnings}. They are not read.",
  waiting_for_lock: template(
    { holder: "tributary sync (pid 12 on host)", wait_ms: 60_000 },
    ({ holder, wait_ms }) => `Waiting up to ${timespan(wait_ms)} for ${holder}.`,
  ),
  lock_given_up: "Another run waited for the lock, so this one let it go first.",
  time_over: template(
    { max_time_ms: 3_600_000, outcome: "everything read so far is stored, the next run goes on from there." },
    ({ max_time_ms, outcome }) => `--max-time is over after ${timespan(max_time_ms)}: ${outcome}`,
  ),
  trying_again: template(
    { reason: "Expected a connection to db:5432, but it refuses." as string | undefined, wait_s: 5 },
    ({ reason, wait_s }) => `${reason === undefined ? "" : `${reason} `}Trying again in ${wait_s} s.`,
  ),
  begun_again: template(
    { times: 2, reason: "Expected a connection to db:5432, but it refuses." as string | undefined },
    ({ times, reason }) =>
      `The warehouse was lost: begun again ${times}×${reason === undefined ? "." : `, at last: ${reason}`}`,
  ),
  locks_kept:
    "Expected the locks of this command's lost session to be free by now, but {reason=items is locked by run 20260131T040000-0a1b2c3d.}",
  warnings_repeated: template(
    { warnings: 3 },
    ({ warnings }) => `${counted(warnings, "warning")} as in the run before: \`tributary status\` shows them in full.`,
  ),
  nothing_loaded: "Nothing has been loaded yet, so no row is known: `tributary sync` loads them first.",
  no_request: "Expected no request, but {path=/items} was asked for.",
  unknown_company:
    "--company: expected one of {companies[]=acme, beta}, got {got=acne}. Name one of them, or leave --company out for all.",
  same_company:
    "The keys of the companies {other=acme} and {company=beta} belong to one company, {company_id?=c-7}. Give {company=beta} its own key, or remove it from companies.",
  key_of_another_company: template(
    { company: "acme", company_id: "c-7", got: "c-8" },
    ({ company, company_id, got }) =>
      `The key of ${company} was replaced during the run. The old key belongs to company ${company_id}, the new one to company ${got}. No row was requested with the new key. ${failureKinds.another_company.advice}`,
  ),
  key_not_proven: template(
    { company: "acme", reason: "Expected data from GET /company, got status 403." as string | undefined },
    ({ company, reason }) =>
      `The key of ${company} was replaced during the run, and the service does not say that the new key is of the same company.${reason === undefined ? "" : ` ${reason}`} No row was requested with the new key. The next run uses it.`,
  ),
  nothing_available: template(
    { company: "acme", lists: 12 },
    ({ company, lists }) =>
      `This key of ${company} may read none of ${counted(lists, "list")} (403): use a key that may read them, or exclude them.`,
  ),
  other_backfill: template(
    { stream: "events", company: "acme", unfinished: dates, wanted: { ...dates, to: undefined } as typeof dates },
    ({ stream, company, unfinished, wanted }) =>
      `A backfill of ${stream} (${company}) ${datesInWords(unfinished)} is unfinished, and this one is ${datesInWords(wanted)}. \`tributary backfill --resume\` goes on with the first; --restart forgets it and begins with these dates.`,
  ),
  formats_changed: template(
    { streams: 5, before: [{ dates: ["iso"], timezone: "UTC" }] as readonly Formats[], now: formats, requests: 1200 },
    ({ streams, before, now, requests }) =>
      `formats: ${streams} streams were read with ${before.map(formatsInWords).join(", or ")}, and the configuration now says ${formatsInWords(now)}. Their lists and feeds are read whole and all of their details fetched again, about ${formatCount(requests)} requests beyond those of a usual run; snapshots of earlier days stay as they were read.`,
  ),
  address_accepted: template(
    moved,
    ({ company, to, requested, found }) =>
      `${company} is kept from ${to} from now on: ${found} of ${requested} rows that the warehouse knows are there.`,
  ),
  another_service: template(
    moved,
    ({ company, from, to, requested, found }) =>
      `Expected the service of company ${company}, which the warehouse keeps from ${from}, but at ${to} only ${found} of ${requested} rows that the warehouse knows are there. No row was changed. Set base_url back; or, to replace its rows by the other service's: \`tributary reset '*' --drop --company ${company}\`, then \`tributary sync\`.`,
  ),
  rates_lacking: template(
    {
      ...{ report: "EUR", rows: 12_000, unconverted: 1_440 },
      currencies: [
        { currency: "USD" as string | null, rows: 1_500, unconverted: 1_440 },
      ] as readonly CurrencyCoverage[],
    },
    ({ report, rows, unconverted, currencies }) => {
      const shown = currencies.slice(0, MOST_CURRENCIES).map(coverageInWords).join(", ");
      const others = currencies.length > MOST_CURRENCIES ? ", and others" : "";
      const advice = currencies.some(({ currency }) => currency !== null)
        ? "Add rates to currency.rates, or raise currency.max_age. "
        : "";
      return `${percent(unconverted / rows)} of the ${formatCount(rows)} rows with a total have no rate to ${report} on their day: ${shown}${others}. Sums in columns \`…_reported\` lack them. ${advice}The model currency_coverage has the days.`;
    },
  ),
  archive_not_pruned: "{path=/archive}: files older than archive.keep could not be removed",
});

const share = { config_line: "meanings.credits.total: negative", company: "acme", table: "items", rows: 1200 };

const tested = { ...share, meaning: "credits", taken_for: "credits" };

const headOf = ({ config_line, company }: typeof tested) => `${config_line} (${company})`;
const rowsOf = ({ rows, table }: typeof tested) => `${counted(rows, "row")} of ${table}`;
const advice = ({ meaning }: typeof tested) =>
  `See \`tributary meanings ${meaning}\`, and set the line in the configuration to what your service means.`;

export const assumptionMessages = catalog("assumption", {
  true_of_none: template(
    tested,
    told =>
      `${headOf(told)} is true of none of the ${rowsOf(told)}: nothing is taken for ${told.taken_for} by it. ${advice(told)}`,
  ),
  true_of_many: template(
    { ...tested, share: 0.6, money_share: 0.7 as number | undefined, left_out_of: "spend" as string | undefined },
    ({ share, money_share, left_out_of, ...told }) => {
      const money = money_share === undefined ? "" : `, ${percent(money_share)} of their amounts`;
      const left = left_out_of === undefined ? "" : `, which leaves them out of ${left_out_of}`;
      return `${headOf(told)} takes ${percent(share)} of the ${rowsOf(told)}${money} for ${told.taken_for}${left}. ${advice(told)}`;
    },
  ),
  share_jumped: template(
    { ...tested, share: 0.6, share_before: 0.1 },
    ({ share, share_before, ...told }) =>
      `${headOf(told)} takes ${percent(share)} of the ${rowsOf(told)} for ${told.taken_for}; in the run before it were ${percent(share_before)}. ${advice(told)}`,
  ),
});
