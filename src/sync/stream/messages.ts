import { counted, formatCount } from "../../counted.ts";
import { catalog, template } from "../../message.ts";

/** How the error of a stream begins that this key may not read. */
export const UNAVAILABLE = "not available to this key";

export const streamMessages = catalog("stream", {
  not_available: `${UNAVAILABLE} (403), the tables stay as they are. Exclude the stream, or use a key that may read it.`,
  no_longer_available: template(
    { stream: "items", reason: "Expected data from GET /items, got status 403 FORBIDDEN: not for this key." },
    ({ stream, reason }) =>
      `${stream}: an earlier run read it, and now it is ${UNAVAILABLE}. ${reason} Until then its tables stay as they are, and each run ends with exit code 1.`,
  ),
  rows_lacking:
    "{stream=appointments}: expected all {total=40} rows that {path=/appointments} counts in one answer, got {rows=25}. They were loaded, and nothing was deleted. The next run tries again; if it stays so, tell the service's operator.",
  list_not_available: template(
    { stream: "item_details", list: "items" },
    ({ stream, list }) => `${stream}: its list ${list} is ${UNAVAILABLE}`,
  ),
  read_again:
    "{stream=items}: its rows have no id of their own, so what an earlier run had read of it, {pages=12} pages, is read again. It is published only by a run that reads it to its end: where one is stopped (--max-requests, --max-time), give it more.",
  cursor_expired: "the service does not take the cursor of the next page: starting afresh",
  read_in_part: template(
    { stream: "items", pages: 3, rows: 300 },
    ({ stream, pages, rows }) =>
      `${stream}: the list could not be read to its end. ${counted(pages, "page")} with ${counted(rows, "row")} came: they were loaded, and nothing was deleted. The next run reads the list from its first page.`,
  ),
  read_beyond: template(
    { stream: "items", pages: 2, rows: 140 },
    ({ stream, pages, rows }) =>
      `${stream}: the rest of the list was read in another order, ${counted(pages, "page")} with ${counted(rows, "row")}. They were loaded, and nothing was deleted.`,
  ),
  begun_afresh:
    "{stream=items}: {option=--full} begins afresh: what a stopped run had read, {read=12} {what=pages} ({rows=1200} rows), is thrown away and asked for again. With --resume it would have been gone on with.",
});

const gap = { from: "2023-01-01" as string | null, to: "2024-01-01" };

/** `what lies before 2023-01-01`. */
export const gapInWords = ({ from, to }: typeof gap): string =>
  from === null ? `what lies before ${to}` : `what lies from ${from} to ${to}`;

const strays: readonly { readonly key: string; readonly at: string }[] = [
  { key: "id=7", at: "2023-01-01 00:00:00+00" },
  { key: "id=8", at: "2023-01-02 00:00:00+00" },
];

const named = (rows: typeof strays): string => rows.map(({ key, at }) => `one of ${at} (${key})`).join(" and ");

export const feedMessages = catalog("feed", {
  gap_refused: template(
    { stream: "events", ...gap, requests: 900, confirm_above: 500 },
    ({ stream, from, to, requests, confirm_above }) => {
      const dates = from === null ? "" : ` --from ${from} --to ${to}`;
      return `${gapInWords({ from, to })} is not loaded: streams.start leaves it in, but it takes about ${requests} requests, more than backfill.confirm_above (${confirm_above}). \`tributary backfill ${stream}${dates}\` loads it.`;
    },
  ),
  gap_read: template(
    { stream: "events", ...gap, requests: 12 },
    ({ stream, requests, ...gap }) =>
      `${stream}: ${gapInWords(gap)} is read now, as streams.start leaves it in: about ${requests} requests.`,
  ),
  filter_distrusted: template(
    { stream: "events", strays, last_time: true },
    ({ stream, strays, last_time }) =>
      `${stream}: its time filter is distrusted${strays.length === 0 ? "" : `, because of ${named(strays)}`}: the feed is read whole${last_time ? " once more, and the filter tried again by the next run" : ", until its next full scan"}.`,
  ),
  odd_row: template(
    { stream: "events", asked: "from 2024-01-01 on", strays: strays.slice(0, 1) },
    ({ stream, asked, strays }) =>
      `${stream}: asked for rows ${asked}, got ${named(strays)}. One odd row is no reason to distrust the service's filter.`,
  ),
  filter_refuted: template(
    { asked: "from 2024-01-01 on", strays },
    ({ asked, strays }) =>
      `asked for rows ${asked}, got ${named(strays)}: the service filters by another field. The feed is read whole now and until its next full scan, after which the filter is tried again.`,
  ),
});

export const lookupMessages = catalog("lookup", {
  unusable_value: template(
    { reason: "Expected a value for {item_id} in /prices/{item_id}, but it is empty: not requested." },
    ({ reason }) => reason,
  ),
  no_values: "nothing to ask for: the columns that give it values have none yet",
  sources_off: template(
    { stream: "prices", tables: ["items"] as readonly string[] },
    ({ stream, tables }) =>
      `its values come from ${tables.join(" and ")}, which is off. Put it into streams.include, or name values under streams.settings.${stream}.`,
  ),
  unknown_values: "the service does not know all that was asked for",
  unread: template(
    {
      ...{ stream: "prices", unread: 2, questions: 40 },
      reason: "Expected data from GET /prices/7, got 500." as string | undefined,
    },
    ({ stream, unread, questions, reason }) =>
      `${stream}: ${unread} of ${questions} questions could not be answered; the rest was published, and nothing marked deleted. The first: ${reason}`,
  ),
});

export const detailsMessages = catalog("details", {
  fetching: "fetching details",
  many_new: template(
    { stream: "item_details", details: 12_000 },
    ({ stream, details }) =>
      `${stream}: ${formatCount(details)} details were never fetched, each is one request. streams.settings.${stream}.max_details caps how many a run asks for; the next run goes on.`,
  ),
  left: template(
    { stream: "item_details", left: 9000, allowed: 3000 },
    ({ stream, left, allowed }) =>
      `${stream}: ${formatCount(left)} details are left for the next runs, as max_details allows ${formatCount(allowed)} a run.`,
  ),
  idle_cause: template(
    { stream: "item_details", cause: "prices.amount", details: 300 },
    ({ stream, cause, details }) =>
      `${stream}: changes of ${cause} made ${formatCount(details)} details due of which none had changed. streams.settings.${stream}.details: { without: [${cause}] } leaves their turns to others.`,
  ),
  absent_doubted:
    "{stream=item_details}: {absent=900} of {details=1000} details answered 404, too many to be believed: nothing was marked deleted, they are asked again later.",
  failed: template(
    {
      ...{ stream: "item_details", failed: 80, details: 1000 },
      reason: "Expected data from GET /items/7, got 500." as string | undefined,
    },
    ({ stream, failed, details, reason }) =>
      `${stream}: ${failed} of ${details} details could not be fetched; they are tried again with growing pauses. The first: ${reason}`,
  ),
  some_failed: template(
    {
      ...{ stream: "item_details", failed: 2, waiting: 3 },
      reason: "Expected data from GET /items/7, got 500." as string | undefined,
    },
    ({ stream, failed, waiting, reason }) =>
      `${stream}: this run could not fetch ${counted(failed, "detail")}, and ${formatCount(waiting)} wait for their next try. Their rows stay as they were. The first: ${reason} \`tributary rejects ${stream}\` lists them.`,
  ),
  absent: template(
    { stream: "item_details", absent: 42 },
    ({ stream, absent }) =>
      `${stream}: ${counted(absent, "detail")} of listed rows answered 404. tributary requests each again after 1, 2, 4, 8 and more nights.`,
  ),
  waiting: template(
    { stream: "item_details", waiting: 80, known: 1000, next: "2026-01-31T04:00:00.000Z" as string | undefined },
    ({ stream, waiting, known, next }) =>
      `${stream}: ${waiting} of ${known} details could not be fetched by the runs before, and wait for their next try. ${nextTry(next)}`,
  ),
});

function nextTry(next: string | undefined): string {
  if (next === undefined) return "Later runs fetch them, as many as max_details allows.";
  return `The first run after ${next.slice(0, 16).replace("T", " ")} UTC asks for some of them again.`;
}
