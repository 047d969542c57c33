import { asking } from "./asking.ts";
import { doubting } from "./doubting.ts";
import { exporting } from "./exporting.ts";
import type { Mutation } from "./mutation.ts";
import { planning } from "./planning.ts";
import { publishing } from "./publishing.ts";
import { reading } from "./reading.ts";
import { rejecting } from "./rejecting.ts";
import { sending } from "./sending.ts";
import { sharing } from "./sharing.ts";
import { storing } from "./storing.ts";
import { telling } from "./telling.ts";
import { withholding } from "./withholding.ts";

/** The breaks that the tests have to notice. */
export const mutations: readonly Mutation[] = [
  ...storing,
  ...planning,
  ...publishing,
  ...doubting,
  ...asking,
  ...withholding,
  ...exporting,
  ...reading,
  ...rejecting,
  ...sending,
  ...sharing,
  ...telling,
];
