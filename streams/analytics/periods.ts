import { snapshot } from "../../src/catalog/stream.ts";

/** Asked for by a trailing window in days; the config may name others. */
export const byPeriod = snapshot({ parameters: { period: ["30"] } });
/** Asked for by a trailing window in months; the config may name others. */
export const byMonths = snapshot({ parameters: { months: ["12"] } });
