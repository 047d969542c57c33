import { exposure as exposureRow } from "../../schemas/analytics/exposure.ts";
import { tariffExposure } from "../../schemas/analytics/tariff_exposure.ts";
import { tariffGaps } from "../../schemas/analytics/tariff_gaps.ts";
import { defineStream, snapshot } from "../../src/catalog/stream.ts";
import { byPeriod } from "./periods.ts";

export const analyticsTariffExposure = defineStream({
  name: "analytics_tariff_exposure",
  path: "/analytics/tariff-exposure",
  mode: byPeriod,
  row: tariffExposure,
  key: ["observed_on", "period"],
  preset: "standard",
});

export const analyticsTariffGaps = defineStream({
  name: "analytics_tariff_gaps",
  path: "/analytics/tariff-gaps",
  mode: byPeriod,
  row: tariffGaps,
  key: ["observed_on", "period"],
  preset: "standard",
});

export const exposure = defineStream({
  name: "exposure",
  path: "/exposure",
  mode: snapshot(),
  row: exposureRow,
  key: ["observed_on"],
  preset: "standard",
});
