import { z } from "zod";
import { type Faults, noFaults } from "../../../simulator/faults.ts";
import { ConfigError } from "../../errors.ts";
import { nearest } from "../../nearest_name.ts";

const amount = z.number().min(0);
const often = z.union([z.number().min(0).max(1), z.strictObject({ next: z.int().min(0) })]);

const faultsSchema = z.strictObject({
  only: z.string().nullable(),
  latencyMs: amount,
  latencyJitterMs: amount,
  rateLimit: z
    .strictObject({
      perSecond: amount,
      retryAfter: z.enum(["seconds", "date", "absent"]),
      retryAfterSeconds: z.exactOptional(amount),
    })
    .nullable(),
  next429: amount,
  planLimit: z.strictObject({ remaining: amount, retryAfterSeconds: z.exactOptional(amount) }).nullable(),
  error500: often,
  badGateway: often,
  cutConnection: often,
  truncatedBody: often,
  hang: often,
  refuse: z.strictObject({ status: z.int().min(400).max(599), next: z.int().min(0) }).nullable(),
  expireAddress: often,
  processingMs: amount,
  endlessProcessing: often,
  slowBody: amount,
  redirectTo: z.string().nullable(),
  repeatRows: amount,
  repeatCursor: often,
  expireCursorAfterPages: z.union([amount, z.strictObject({ pages: amount, times: amount })]),
  missingPagination: often,
  hasMoreWithoutCursor: often,
  emptyPage: often,
  unknownFields: z.number().min(0).max(1),
  wrongTypes: z.number().min(0).max(1),
  nullKeys: z.number().min(0).max(1),
}) satisfies z.ZodType<Faults>;

/** The switches of the simulated service by name. */
export const faultNames: readonly string[] = Object.keys(faultsSchema.shape);

const HELP = "`tributary simulate --help` shows examples.";

/** `name=value` pairs → switches; a value is JSON, or text where it isn't. @throws ConfigError */
export function parseFaults(pairs: readonly string[]): Faults {
  const given = pairs.map(pair => {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(pair) ?? [];
    if (name === undefined || value === undefined) {
      throw new ConfigError(`--fault expects name=value such as error500=0.05, got ${JSON.stringify(pair)}. ${HELP}`);
    }
    if (!faultNames.includes(name)) {
      const near = nearest(name, faultNames);
      const advice = near === undefined ? `There are ${faultNames.join(", ")}` : `Did you mean ${near}?`;
      throw new ConfigError(`--fault: unknown fault ${name}. ${advice.replace(/[^?]$/, "$&.")} ${HELP}`);
    }
    return [name, jsonOrText(value)];
  });
  const parsed = faultsSchema.safeParse({ ...noFaults(), ...Object.fromEntries(given) });
  if (parsed.success) return parsed.data;
  const told = parsed.error.issues.map(({ path, message }) => {
    const came = given.find(([name]) => name === path[0])?.[1];
    return `--fault ${path.join(".")}: expected a value that this fault takes, got ${JSON.stringify(came)} (${message}). ${HELP}`;
  });
  throw new ConfigError(told.join("\n"));
}

function jsonOrText(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
