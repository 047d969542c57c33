import { timespan } from "../duration.ts";
import { catalog, template } from "../message.ts";

export const libraryMessages = catalog("library", {
  company_not_named: "--company: expected one of {companies[]=acme, beta}, got none.",
  file_uploaded: "uploaded",
  not_a_warehouse: "Expected a warehouse that openWarehouse() resolved to, got something else: await it first.",
  option_value: "Option {option=maxTimeMs}: {reason=expected a number of milliseconds from 0}.",
  stopped_by_caller: "Stopped by the caller's signal.",
  unknown_option: template(
    { option: "ful", suggestion: "full" as string | undefined, known: ["company", "full"] as readonly string[] },
    ({ option, suggestion, known }) =>
      `Unknown option ${option}${suggestion === undefined ? "" : ` (did you mean ${suggestion}?)`}: expected one of ${known.join(", ")}.`,
  ),
  uploads_failed: template(
    { failed: [{ doc_id: "DOC-1", status: "failed" }] },
    ({ failed }) =>
      `The service could not process: ${failed.map(({ doc_id, status }) => `${doc_id} (${status})`).join(", ")}. Look at them in the service; --again sends a file once more.`,
  ),
  uploads_not_processed: template(
    { wait_ms: 600_000, pending: [{ doc_id: "DOC-1", status: "queued" as string | null }] },
    ({ wait_ms, pending }) =>
      `Not processed within ${timespan(wait_ms)}, as far as is said: ${pending.map(({ doc_id, status }) => `${doc_id} (${status ?? "nothing said"})`).join(", ")}. Call it again with --wait to go on waiting.`,
  ),
  warehouse_closed: "Stopped: the warehouse was closed.",
});
