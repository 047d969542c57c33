import { catalog, template } from "../../message.ts";

export const verifyMessages = catalog("verify", {
  ending: "the verification was ending",
  compared: "compared",
  formats_changed: template(
    { stream: "items" },
    ({ stream }) =>
      `${stream}: formats changed since its rows were read: run \`tributary sync ${stream}\` first, which reads them as the configuration says.`,
  ),
  questions_unanswered: template(
    { stream: "customers", unanswered: 2, questions: 40, reason: "GET /customers answered 404." },
    ({ stream, unanswered, questions, reason }) =>
      `${stream}: ${unanswered} of ${questions} questions could not be answered. The first: ${reason}`,
  ),
  parents_gone: template(
    { stream: "order_details", table: "orders" },
    ({ stream, table }) =>
      `${stream}: which details there are stands in ${table}, and that table is gone: nothing of them was compared with the service.`,
  ),
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
  values_not_kept: template(
    { state_schema: "_tributary" },
    ({ state_schema }) =>
      `Values were not written to ${state_schema}.verification_differences, only keys: the warehouse's values are stored under another \`privacy\` than the configuration that this verification began with. Run \`tributary sync\`, then verify again.`,
  ),
  result_not_kept: template(
    { state_schema: "_tributary", reason: "tributary sync is at work." },
    ({ state_schema, reason }) =>
      `The result was not written to ${state_schema}.verifications: ${reason} With --wait it waits for that run.`,
  ),
});
