import { count, countOrNull, flagOrNull, moment, momentOrNull, table, text, textOrNull } from "./state_columns.ts";

const company = text("Company of the configuration, as in the data tables' _company.");
const stream = text("Name of the stream of details.");

/** What is known of each detail, and of what makes them due. */
export const detailTables = {
  details: table(
    "How old every detail is: one row for each parent row that was asked for, whatever came of it.",
    {
      company,
      stream: text("Name of the stream of details, whose table of the same name holds the rows."),
      parent_key: text("Key of the parent row that the request was for, as text."),
      parent_hash: countOrNull(
        "Fingerprint of the parent row when the request went out: another one there means the detail is due again. NULL: it is due because `formats` changed.",
      ),
      fetched_at: moment("When the service answered: the age of the detail's rows."),
      outcome: text("ok, absent (the service has none: 404) or failed."),
      attempts: count("Requests in a row that failed; 0 after an answer."),
      next_try: momentOrNull("When a failed one may be asked for again; NULL where nothing failed."),
      why: textOrNull(
        "Why it was asked for last: new, changed, retry, formats, refresh, forced, caused (see detail_causes), or audit. NULL: not noted.",
      ),
      previous_at: momentOrNull("When the service had answered before that; NULL for the first answer."),
      found: flagOrNull("Whether the last answer differed from the one before; NULL for the first answer."),
      changed_at: momentOrNull("When an answer last differed from the one before; NULL where none has."),
      caused_at: momentOrNull("When it was last asked for as another list's row had changed; NULL where it never was."),
    },
    { key: ["company", "stream", "parent_key"] },
  ),
  detail_due: table(
    "Details that a change of another list's rows made due: a row for each until the detail was asked for again.",
    {
      company,
      stream,
      parent_key: text("Key of the parent row that the request is for, as text."),
      cause: text("Name of the stream whose row changed, came or went."),
      since: moment("Publish that made it due."),
    },
    { key: ["company", "stream", "parent_key", "cause"] },
  ),
  detail_causes: table(
    "How often a change of another list's rows had really changed the details that it made due.",
    {
      company,
      stream,
      cause: text("Name of the stream whose rows change."),
      found: count("Details that were asked for because of it and had changed."),
      unchanged: count("Details that were asked for because of it and were as before."),
      in_vain: count("Of those, the ones since one had changed: where there are many, other details go first."),
      updated_at: moment("When details were last asked for because of it."),
    },
    { key: ["company", "stream", "cause"] },
  ),
};
