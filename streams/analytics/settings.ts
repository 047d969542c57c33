import {
  matchingSettings as matchingSettingsRow,
  otifSettings as otifSettingsRow,
} from "../../schemas/analytics/order_figures.ts";
import { defineStream, snapshot } from "../../src/catalog/stream.ts";

export const matchingSettings = defineStream({
  name: "matching_settings",
  path: "/po/matching-settings",
  mode: snapshot(),
  row: matchingSettingsRow,
  key: ["observed_on"],
  preset: "standard",
});

export const otifSettings = defineStream({
  name: "otif_settings",
  path: "/po/otif-settings",
  mode: snapshot(),
  row: otifSettingsRow,
  key: ["observed_on"],
  preset: "standard",
});
