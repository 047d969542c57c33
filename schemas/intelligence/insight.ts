import { count, id, inName, json, list, moment, money, personal, record, score, text } from "../fields.ts";

const fields = {
  insight_id: id().describe("The service's identifier of the insight."),
  analysis_type: text()
    .nullable()
    .describe("Analysis that brought the insight, as the service names it; values not documented."),
  category: text().nullable().describe("Category the service sorts the insight into; values not documented."),
  title: text().nullable().describe("Headline of the insight, in words; null where it has none."),
  summary: text().nullable().describe("What the insight says, in a few words; null where nothing is said."),
  findings: list()
    .nullable()
    .describe("What was found, a list of texts or objects kept as JSON; null where there is none."),
  recommendations: list()
    .nullable()
    .describe(
      "What the service recommends, a list of texts or objects kept as JSON; null where it recommends nothing.",
    ),
  supporting_data: json().nullable().describe("Data behind the insight; content not documented, kept as JSON."),
  confidence_score: score().nullable().describe("How sure the service is of the insight; the scale is not documented."),
  potential_savings_usd: money(inName)
    .nullable()
    .describe("Savings that the insight could bring, in US dollars; null where none are put to it."),
  verification_status: text().nullable().describe("Whether the insight has been verified; values not documented."),
  priority: score()
    .nullable()
    .describe("How urgent the insight is, as a number; which end is urgent is not documented."),
  sensor_source: list().nullable().describe("Sensors that the insight comes from, a list of names kept as JSON."),
  status: text().nullable().describe("Where the insight stands, as the service names it; values not documented."),
  run_id: id()
    .nullable()
    .describe("Generation run that brought the insight, see insight_runs; null where none is named."),
  recurrence_count: count()
    .nullable()
    .describe("How often the same insight has come up; null where it is not counted."),
  first_seen_at: moment().nullable().describe("When the insight first came up; null where that is not known."),
  created_at: moment().nullable().describe("When this insight was made; null where the service gives no time."),
  auto_triaged_at: moment().nullable().describe("When the insight was triaged automatically; null where it was not."),
  auto_triage_action: text()
    .nullable()
    .describe("What the automatic triage did with the insight; values not documented, null where it was not triaged."),
  triage_trace_id: id().nullable().describe("The service's trace of the automatic triage; null where there is none."),
  triage_reason: text().nullable().describe("Why the automatic triage acted as it did; null where there is no reason."),
  provenance: json().nullable().describe("Where the insight's facts come from; content not documented, kept as JSON."),
  metric_backing: json()
    .nullable()
    .describe("What the insight's figures rest on; content not documented, kept as JSON."),
  assigned_to: personal(text()).nullable().describe("Who the insight is assigned to; null while it is nobody's."),
  assigned_at: moment().nullable().describe("When the insight was assigned; null while it is nobody's."),
  dismiss_reason: text().nullable().describe("Why the insight was dismissed; null where it was not."),
  action_notes: text().nullable().describe("Remarks on what was done about the insight; null where there are none."),
  reviewed_at: moment().nullable().describe("When somebody reviewed the insight; null until then."),
  reviewed_by: personal(text()).nullable().describe("Who reviewed the insight; null until somebody did."),
};

/** A row of the list of present insights: `GET /insights`. */
export const insight = record(
  "Insights that are current, one row an insight; one that is no longer current leaves the list.",
  fields,
);

/** A row of the list of past insights: `GET /insights/history`. */
export const pastInsight = record(
  "Insights as the service's history lists them; an insight may stand in it several times.",
  fields,
);
