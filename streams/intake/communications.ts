import { communication } from "../../schemas/intake/communication.ts";
import { communicationStats as stats } from "../../schemas/intake/communication_stats.ts";
import { defineStream, feed, snapshot } from "../../src/catalog/stream.ts";

const pace = { fullScanPages: 100, fullScanEveryDays: 30, lookbackDays: 7 };

export const communications = defineStream({
  name: "communications",
  path: "/communications",
  query: { include_filed: "true" },
  mode: feed({
    rows: "communications",
    total: "total",
    confirm: "/communications/{id}",
    highWaterColumn: "received_at",
    narrow: { by: "dates", from: "date_from", to: "date_to" },
    ...pace,
  }),
  row: communication,
  key: ["id"],
  preset: "standard",
});

export const communicationStats = defineStream({
  name: "communication_stats",
  path: "/communications/stats",
  mode: snapshot(),
  row: stats,
  key: ["observed_on"],
  preset: "standard",
});
