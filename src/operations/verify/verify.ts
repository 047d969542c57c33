import type { IdentityEndpoint, Stream } from "../../catalog/stream.ts";
import type { Clock } from "../../clock.ts";
import type { Config } from "../../config/config.ts";
import { select, selectedByConfig } from "../../config/selection.ts";
import { endOf, LockedError, nothingLoaded } from "../../errors.ts";
import type { Message } from "../../message.ts";
import { isUnder, type Privacy, privacyOf } from "../../privacy/apply_policy.ts";
import { configured, withKeys } from "../../privacy/configured_catalog.ts";
import { createHasher } from "../../rows/hash.ts";
import { redactMessage } from "../../secrets.ts";
import { holdToWarehouse, sideBySide } from "../../sync/run/companies.ts";
import { policyOf } from "../../sync/run/jobs.ts";
import { holderOf, limitTime } from "../../sync/run/opening.ts";
import { exitCodeOf, type Job, viewOf } from "../../sync/run/report.ts";
import { companiesOf, newRunId } from "../../sync/run/run.ts";
import type { RunTools } from "../../sync/run/run_order.ts";
import { createSharedClients, openService, type Service } from "../../sync/run/service.ts";
import { StreamProgress } from "../../sync/stream_progress.ts";
import { inState, type Where } from "../../warehouse/connect/open.ts";
import { looking, type WarehouseReading } from "../../warehouse/connect/reading.ts";
import { addedColumnsOf, withAdded } from "../../warehouse/schema/unknown_field_columns.ts";
import { recordedFacts } from "../../warehouse/state/facts.ts";
import { saveVerification } from "../../warehouse/state/verifications.ts";
import { compareCompany } from "./company.ts";
import type { VerifyContext } from "./context.ts";
import { verifyMessages } from "./messages.ts";
import { type Compared, reportOf } from "./outcome.ts";
import type { VerifyReport } from "./report.ts";

export interface VerifyOrder {
  readonly config: Config;
  readonly catalogue: readonly Stream[];
  readonly identity: IdentityEndpoint;
  readonly version: string;
  /** Names, patterns, presets; empty: all that the config switches on. */
  readonly names: readonly string[];
  readonly company: string | undefined;
  /** Details of each kind that are asked for; undefined: all. */
  readonly sample: number | undefined;
  /** Decides which details are asked for; drawn where it is absent. */
  readonly seed?: string;
  readonly maxTimeMs: number | undefined;
  readonly maxRequests: number | undefined;
  /** How long to wait for another run, to write the result down. */
  readonly waitMs: number;
}

/** Reads streams again and compares them with what readers see, field by field. Takes no lock until it keeps the result. @throws ConfigError, DestinationError, LockedError */
export async function verify(order: VerifyOrder, tools: RunTools): Promise<VerifyReport> {
  const { config } = order;
  const { clock, random } = tools;
  const startedAt = new Date(clock.now()).toISOString();
  const runId = newRunId(startedAt, random);
  const seed = order.seed ?? runId.slice(-8);
  companiesOf(config, order.company);
  const privacy = privacyOf(withKeys(order.catalogue, config.streams.settings), config.privacy);
  const compared = await looking(config.destination, reading =>
    compareAll(order, tools, reading, privacy, { seed, startedAt }),
  );
  if (compared === undefined) throw nothingLoaded("a warehouse to compare with the service");
  const auditOf = (stream: string) => policyOf(order.config, stream).details.audit;
  const report = reportOf(compared, { runId, seed, sample: order.sample ?? null, startedAt, auditOf }, tools);
  const warning = await keepResult(config.destination, report, privacy, clock, order.waitMs);
  return warning === undefined
    ? report
    : { ...report, warnings: [...report.warnings, redactMessage(warning, tools.redact)] };
}

/** The streams that are to be compared: those named, else all that are on. A named detail is compared without its list. */
function verifiedStreams({ config, catalogue, names }: Pick<VerifyOrder, "config" | "catalogue" | "names">): {
  readonly all: readonly Stream[];
  readonly on: readonly Stream[];
  readonly wanted: readonly Stream[];
} {
  const { settings } = config.streams;
  const all = configured(catalogue, config);
  const on = selectedByConfig(all, config.streams);
  const { streams, named } = select(all, on, names, settings);
  return { all, on, wanted: names.length === 0 ? streams : streams.filter(stream => named.has(stream.name)) };
}

async function compareAll(
  order: VerifyOrder,
  tools: RunTools,
  reading: WarehouseReading,
  { ofAnswers: treat }: Privacy,
  { seed, startedAt }: { readonly seed: string; readonly startedAt: string },
): Promise<Compared> {
  const { config, version, maxRequests } = order;
  const { clock, random, log, redact } = tools;
  const { all, on, wanted } = verifiedStreams(order);
  const added = await addedColumnsOf(reading);
  const widened = (stream: Stream) => withAdded(stream, added, config.streams.settings[stream.name]?.volatile ?? []);
  const catalogue = all.map(widened);
  const ending = new AbortController();
  const timers = new AbortController();
  const signal = AbortSignal.any([tools.signal, ending.signal]);
  const limit = { maxTimeMs: order.maxTimeMs, spentMs: 0, outcome: "what was compared by then is reported." };
  limitTime(limit, clock, timers.signal, error => ending.abort(error));
  const sharedClients = createSharedClients(config.api, clock);
  const errors: unknown[] = [];
  try {
    const serviceTools = { treat, clock, random, log, signal, version, maxRequests };
    const opening = companiesOf(config, order.company).map(company =>
      openService(company, config.api, order.identity, serviceTools, sharedClients),
    );
    const services = await holdToWarehouse(
      await Promise.all(opening),
      { schema: reading.schema, facts: await recordedFacts(reading) },
      version,
    );
    const jobs = services.flatMap(({ company }) =>
      wanted.map(
        (stream): Job => ({ company: company.name, stream: widened(stream), progress: new StreamProgress(startedAt) }),
      ),
    );
    tools.watch(viewOf(jobs, services, clock));
    const encoding = { formats: config.formats, hasher: await createHasher(), redact };
    const contextOf = ({ company, ...service }: Service, own: AbortSignal): VerifyContext => ({
      ...{ company: company.name, service, warehouse: reading, clock, encoding, signal: own, catalogue },
      start: config.streams.start,
      sampling: { seed, sample: order.sample },
      on: new Set(on.map(({ name }) => name)),
      policyOf: (name: string) => policyOf(config, name),
    });
    const lines: Compared["lines"][number][] = [];
    await sideBySide(services, async (service, atOnce) => {
      const own = new AbortController();
      const context = contextOf(service, AbortSignal.any([signal, own.signal]));
      const mine = jobs.filter(job => job.company === context.company);
      const stop = (error: unknown) => (endOf(error) === "run" ? ending : own).abort(error);
      lines.push(...(await compareCompany(context, mine, { failure: service.failure, atOnce, log, errors, stop })));
    });
    if (signal.aborted && !errors.includes(signal.reason)) errors.push(signal.reason);
    const order_ = (line: Compared["lines"][number]) => jobs.indexOf(line.job);
    return { lines: lines.toSorted((a, b) => order_(a) - order_(b)), errors, exitCode: exitCodeOf(errors) };
  } finally {
    timers.abort();
    for (const api of sharedClients.apis) await api.close();
  }
}

/** Keeps the result beside the data. Answers a warning where another run holds the warehouse, or it is under another privacy policy by now. @throws DestinationError, ConfigError */
async function keepResult(
  where: Where,
  report: VerifyReport,
  { policy }: Pick<Privacy, "policy">,
  clock: Clock,
  waitMs: number,
): Promise<Message | undefined> {
  const { run_id: runId, started_at: startedAt, differences } = report;
  const lines = report.streams.map(({ code: _, ...line }) => line);
  const holder = holderOf("tributary verify", startedAt);
  try {
    return await inState(where, { runId, holder, clock }, waitMs, async destination => {
      const whole = await saveVerification(destination, lines, differences, records => isUnder(records, policy));
      await destination.releaseToReaders();
      if (whole || differences.length === 0) return undefined;
      return verifyMessages.values_not_kept({ state_schema: where.stateSchema });
    });
  } catch (error) {
    if (!(error instanceof LockedError)) throw error;
    return verifyMessages.result_not_kept({ state_schema: where.stateSchema, reason: error.message });
  }
}
