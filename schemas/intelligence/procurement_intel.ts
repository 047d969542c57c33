import {
  anyJson,
  count,
  id,
  inName,
  lineId,
  list,
  moment,
  money,
  notGiven,
  personal,
  quantity,
  record,
  score,
  table,
  text,
} from "../fields.ts";

const runFields = {
  run_id: lineId(id()).describe("The service's identifier of the run."),
  agent_mode: text().nullable().describe("Mode the agent ran in, as the service names it; values not documented."),
  status: text().nullable().describe("How the run stands or ended, as the service names it; values not documented."),
  sensors_run: quantity().nullable().describe("How many sensors the run used; null where they are not counted."),
  findings_generated: quantity()
    .nullable()
    .describe("How many findings the run generated; null where they are not counted."),
  llm_cost_usd: money(inName)
    .nullable()
    .describe("What the run's language model cost, in US dollars; null where not known."),
  error_message: text().nullable().describe("Why the run failed, in words; null where it did not."),
  started_at: moment().nullable().describe("When the run began; null where that is not known."),
  completed_at: moment().nullable().describe("When the run ended; null while it has not."),
};

/** A row of `GET /procurement-intel/runs`, which shows a hundred at most. */
export const procurementIntelRun = record(
  "Runs of the procurement agent, the latest hundred at each reading; older rows stay as they were last seen.",
  runFields,
);

const byStatus = table(
  "procurement_intel_summary_by_status",
  "The agent's findings by status, one set of rows a day.",
  {
    status: lineId(text()).describe("Status that is counted, as the service names it; values not documented."),
    count: count().nullable().describe("How many findings have the status."),
    total_savings: money(notGiven)
      .nullable()
      .describe("Savings put to the findings of the status; null where none are."),
  },
);

const byMode = table("procurement_intel_summary_by_mode", "The agent's findings by mode, one set of rows a day.", {
  agent_mode: lineId(text()).describe(
    "Mode of the agent that is counted, as the service names it; values not documented.",
  ),
  count: count().nullable().describe("How many findings the mode has brought."),
  new_count: count()
    .nullable()
    .describe("How many of the mode's findings are new; what makes one new is not documented."),
  total_savings: money(notGiven).nullable().describe("Savings put to the findings of the mode; null where none are."),
});

/** `GET /procurement-intel/summary`. */
export const procurementIntelSummary = record(
  "The days on which the procurement agent's findings were measured; the figures are the child rows.",
  {
    by_status: byStatus,
    by_mode: byMode,
    last_runs: table(
      "procurement_intel_summary_last_runs",
      "The agent's latest runs as the summary showed them, one set of rows a day.",
      runFields,
    ),
  },
);

/** What the agent holds on one finding: `GET /procurement-intel/{finding_id}`. */
export const findingIntel = record(
  "What the procurement agent worked out about each finding: recommendations, savings, priority.",
  {
    finding_id: id().describe("The finding, the same as findings.finding_id."),
    agent_mode: text()
      .nullable()
      .describe("Mode in which the agent looked at it, as the service names it; values not documented."),
    finding_type: text().nullable().describe("What was found, by the service's own labels, which are not documented."),
    title: text().nullable().describe("Headline of the agent's account, in words; null where it has none."),
    summary: text().nullable().describe("The agent's account in a few words; null where nothing is said."),
    findings: list()
      .nullable()
      .describe("What the agent found, a list of texts or objects kept as JSON; null where nothing."),
    recommendations: list()
      .nullable()
      .describe(
        "What the agent recommends, a list of texts or objects kept as JSON; null where it recommends nothing.",
      ),
    entity_refs: anyJson()
      .nullable()
      .describe("Things that the finding refers to; any JSON value, content not documented."),
    confidence_score: score().nullable().describe("How sure the agent is; the scale is not documented."),
    estimated_savings_usd: money(inName)
      .nullable()
      .describe("Savings the agent expects, in US dollars; null where it expects none."),
    priority: score()
      .nullable()
      .describe("How urgent the agent holds it, as a number; which end is urgent is not documented."),
    sensor_sources: anyJson()
      .nullable()
      .describe("Sensors that it comes from; any JSON value, content not documented."),
    status: text()
      .nullable()
      .describe("Where it stands with the agent, as the service names it; values not documented."),
    run_id: id().nullable().describe("Run that brought it, see procurement_intel_runs; null where none is named."),
    created_at: moment().nullable().describe("When the agent made it; null where the service gives no time."),
    supporting_data: anyJson()
      .nullable()
      .describe("Data behind the agent's account; any JSON value, content not documented."),
    expires_at: moment().nullable().describe("When the agent's account lapses; null where it does not."),
    reviewed_at: moment().nullable().describe("When somebody reviewed it; null until then."),
    reviewed_by: personal(text()).nullable().describe("Who reviewed it; null until somebody did."),
  },
);
