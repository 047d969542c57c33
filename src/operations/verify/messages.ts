import { catalog, template } from "../../message.ts";

export const verifyMessages = catalog("verify", {
  ending: "the verification was ending",
  compared: "compared",
  formats_changed:
    "{stream=items}: formats changed since its rows were read: run `tributary sync {stream=items}` first, which reads them as the configuration says.",
  questions_unanswered:
    "{stream=customers}: {unanswered=2} of {questions=40} questions could not be answered. The first: {reason=GET /customers answered 404.}",
  parents_gone:
    "{stream=order_details}: which details there are stands in {table=orders}, and that table is gone: nothing of them was compared with the service.",
  details_not_fetched: template(
    {
      ...{ stream: "order_details", failed: 2, details: 40 },
      reason: "GET /orders/1 answered 404." as string | undefined,
    },
    ({ stream, failed, details, reason }) =>
      `${stream}: ${failed} of ${details} details could not be fetched. The first: ${reason}`,
  ),
  nothing_comparable: template({ streams: ["items"] as readonly string[], rows: 40 }, ({ streams, rows }) =>
    rows === 0
      ? `${streams.join(", ")}: nothing could be compared. The service and the warehouse have no row in common. Run \`tributary sync\`, then verify again.`
      : `${streams.join(", ")}: nothing could be compared. The service has changed all ${rows} rows since they were loaded. Run \`tributary sync\`, then verify again.`,
  ),
  values_not_kept:
    "Values were not written to {state_schema=_tributary}.verification_differences, only keys: the warehouse's values are stored under another `privacy` than the configuration that this verification began with. Run `tributary sync`, then verify again.",
  result_not_kept:
    "The result was not written to {state_schema=_tributary}.verifications: {reason=tributary sync is at work.} With --wait it waits for that run.",
});
