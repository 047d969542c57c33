import { company, count, countOrNull, moment, momentOrNull, score, table, text } from "./state_columns.ts";

const stream = text("Name of the stream of details, whose table of the same name holds the rows.");

/** State tables of details: how old each is, how often they change, and what random looks found. */
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
      attempts: count("Requests in a row that failed; 0 after an answer."),
      next_try: momentOrNull("When a failed one may be asked for again; NULL where nothing failed."),
    },
    { key: ["company", "stream", "parent_key"] },
  ),
  detail_rates: table(
    "How often details change though their list row does not, as looks at them found: what nights are planned by.",
    {
      company,
      stream,
      kind: text(
        "stratum (of parents that are alike) or factor (of parents that share a value, times the stratum's rate).",
      ),
      name: text(
        "Which: of a stratum whether its parents are open, how old they are, when a change was last found, and whether they were lately fetched for a cause.",
      ),
      events: score("Looks that found a change; what was seen 30 days ago counts half."),
      exposure: score(
        "Days in which a change would have been found, of a stratum; of a factor the changes that its strata let expect. Counts half after 30 days too.",
      ),
      updated_at: moment("When a run last added its looks."),
    },
    { key: ["company", "stream", "kind", "name"] },
  ),
  detail_samples: table(
    "What random looks at details found that nothing else made due, a row a night and bucket: the estimate of wrong details rests on it.",
    {
      company,
      stream,
      planned_at: moment("When the night's looks were chosen."),
      bucket: count(
        "Bucket of the predicted probability that the detail is wrong: 0 below 0.003, 1 below 0.01, 2 below 0.03, 3 below 0.1, 4 below 0.3, 5 above.",
      ),
      population: count(
        "Parents in the bucket that the night did not choose for another reason: the sample is drawn from them.",
      ),
      sampled: count("How many of them were drawn, and answered."),
      wrong: count("How many of these had another detail than the warehouse."),
      behind: score("How many of those had been so for more than seven days, by probability."),
      live: count("Live parents of the stream that night, in all buckets."),
      fetched: count("How many of them the night fetched, for whatever reason."),
    },
    { key: ["company", "stream", "planned_at", "bucket"] },
  ),
};
