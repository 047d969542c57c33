import { ingestedItem } from "../schemas/ingested.ts";
import { defineStream, feed } from "../src/catalog/stream.ts";

const pace = { fullScanPages: 100, fullScanEveryDays: 30, lookbackDays: 7 };

export const ingested = defineStream({
  name: "ingested",
  path: "/ingested",
  query: { include_filed: "true" },
  mode: feed({
    rows: "items",
    highWaterColumn: "ts",
    narrow: { by: "dates", from: "date_from", to: "date_to" },
    ...pace,
  }),
  row: ingestedItem,
  key: ["row_type", "id"],
  preset: "core",
});
