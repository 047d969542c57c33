import { id, inName, moment, money, quantity, record, text } from "../fields.ts";

/** One generation run: `GET /insights/runs/{run_id}`. */
export const insightRun = record("Runs that generated insights, one row a run that a current insight names.", {
  run_id: id().describe("The service's identifier of the run; insights.run_id refers to it."),
  status: text().describe("How the run stands or ended, as the service names it; values not documented."),
  insights_generated: quantity()
    .nullable()
    .describe("How many insights the run generated; null where it is not counted."),
  llm_cost_usd: money(inName)
    .nullable()
    .describe("What the run's language model cost, in US dollars; null where not known."),
  error_message: text().nullable().describe("Why the run failed, in words; null where it did not."),
  started_at: moment().nullable().describe("When the run began; null where that is not known."),
  completed_at: moment().nullable().describe("When the run ended; null while it has not."),
});
