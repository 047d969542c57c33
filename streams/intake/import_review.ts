import {
  importReviewCensus as census,
  importReviewParked as parked,
  parkedImport,
} from "../../schemas/intake/import_review.ts";
import { defineStream, detail, snapshot } from "../../src/catalog/stream.ts";

export const importReviewCensus = defineStream({
  name: "import_review_census",
  path: "/import-review/census",
  mode: snapshot(),
  row: census,
  key: ["observed_on"],
  preset: "standard",
});

export const importReviewParked = defineStream({
  name: "import_review_parked",
  path: "/import-review/parked",
  mode: snapshot(),
  row: parked,
  key: ["observed_on"],
  preset: "standard",
});

// Its rows change while the counts that it is asked by stay the same, so they are due again each night: after
// somewhat less than a day, which nights at the same hour meet.
export const parkedImports = defineStream({
  name: "parked_imports",
  path: "/import-review/parked/{sink}",
  mode: detail({ of: "import_review_census", by: "by_sink", rows: "items", paged: true, everyDays: 0.9 }),
  row: parkedImport,
  key: ["sink", "item_id"],
  preset: "all",
});
