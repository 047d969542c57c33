import { id, moment, record } from "../../schemas/fields.ts";
import { defineStream, feed } from "../../src/catalog/stream.ts";

/** A feed by dates, of which one page at most is read whole each time. */
export const events = defineStream({
  name: "events",
  path: "/events",
  mode: feed({
    rows: "events",
    mark: "happened_at",
    narrow: { by: "dates", from: "date_from", to: "date_to" },
    fullScanPages: 1,
    fullScanEveryDays: 30,
    lookbackDays: 1,
  }),
  row: record("Events.", {
    event_id: id().describe("Which."),
    happened_at: moment().nullable().describe("When it happened."),
  }),
  key: ["event_id"],
  preset: "core",
});
