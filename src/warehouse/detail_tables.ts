import {
  company,
  count,
  countOrNull,
  flagOrNull,
  moment,
  momentOrNull,
  score,
  scoreOrNull,
  table,
  text,
  textOrNull,
} from "./state_columns.ts";

const stream = text("Name of the stream of details, whose table of the same name holds the rows.");

export const detailTables = {
  details: table(
    "How old every detail is: one row for each parent row that was asked for, whatever came of it.",
    {
      company,
      stream,
      parent_key: text("Key of the parent row that the request was for, as text."),
      parent_hash: countOrNull(
        "Fingerprint of the parent row when the request went out: another one there means the detail is due again. NULL: it is due because `formats` changed.",
      ),
      fetched_at: moment("When the service answered: the age of the detail's rows."),
      outcome: text("ok, absent (the service has none: 404) or failed."),
      attempts: count("Requests in a row with this outcome; 0 for ok."),
      next_try: momentOrNull(
        "From when on a run requests it again, where it failed, was absent or lacked an array of lines; NULL otherwise.",
      ),
      reason: textOrNull(
        "Why the last answer was not complete: the failure, the 404, the missing array; NULL otherwise.",
      ),
      why: textOrNull(
        "Reason of its last request: new, changed, retry, formats, recheck (it was absent or lacked lines), refresh, forced, caused (see detail_causes) or audit. NULL: a killed run requested it, or it came from the archive.",
      ),
      previous_at: momentOrNull("When the service had answered before that; NULL for the first answer."),
      found: flagOrNull("Whether the last answer differed from the one before; NULL for the first answer."),
      changed_at: momentOrNull(
        "When an answer last differed from the one before; the time of the first answer where none has.",
      ),
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
  detail_samples: table(
    "Looks at details that nothing made due: a row for each night of the last week. The estimate of wrong details rests on the random ones.",
    {
      company,
      stream,
      planned_at: moment("When the night's looks were chosen."),
      looks: count("Details that were looked at though nothing made them due."),
      found: count("How many of these had another detail than the warehouse."),
      sampled: count("Of looks the random ones, drawn from what nothing else chose."),
      wrong: count("How many of the random ones had another detail than the warehouse."),
      live: count("Live parents of the stream that night."),
      fetched: count("How many of them the night fetched, for whatever reason."),
      active_live: count("Live parents that are active: open, or younger than 60 days."),
      active_fetched: count("How many of them the night fetched, for whatever reason."),
      active_sampled: count("Of sampled the active ones."),
      late: score(
        "How many of those had been wrong for longer than `details.fresh.within` of that night, by probability.",
      ),
    },
    { key: ["company", "stream", "planned_at"] },
  ),
  detail_freshness: table(
    "How fresh a stream's details are, as random looks of a week say, beside what is promised: a row a stream, written after each night with looks. Intervals are of 90 %.",
    {
      company,
      stream,
      within_days: score("What `details.fresh` promises: active details are behind by no more than so many days."),
      promised: score("For at least such a share of them that is promised, from 0 to 1."),
      fresh: scoreOrNull("The share that is so; NULL without looks at active ones."),
      fresh_low: scoreOrNull("The lower bound of its interval."),
      fresh_high: scoreOrNull("The upper bound of its interval."),
      wrong: scoreOrNull("Share of all details that changed unseen at the service; NULL without looks."),
      wrong_low: scoreOrNull("The lower bound of its interval."),
      wrong_high: scoreOrNull("The upper bound of its interval."),
      sampled: count("Random looks that the figures rest on."),
      longest_unseen_at: momentOrNull("When the detail was fetched that has not been looked at for longest."),
      updated_at: moment("When the looks were chosen that the figures end with."),
    },
    { key: ["company", "stream"] },
  ),
};
