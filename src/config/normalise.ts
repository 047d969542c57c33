import { resolve } from "node:path";
import { parseDuration } from "../duration.ts";
import type { Company, Config, DestinationConfig, NotifyTarget, StreamSettings } from "./config.ts";
import { parseSize } from "./fields.ts";
import type { EffectiveConfig } from "./schema.ts";

/**
 * Of `memory` so much is DuckDB's: 80 MB, with which a million usual rows are loaded, of 256. Answers and rows get half of it:
 * the rest is for what was released and the garbage collector has not yet freed.
 */
const DATABASE_SHARE = 5 / 16;
const ANSWERS_SHARE = 1 / 2;

/** The file's shape → the program's: milliseconds, absolute paths, one list of companies. */
export function normalise(effective: EffectiveConfig, companies: readonly Company[], directory: string): Config {
  const { api, streams, deletes, problems, formats, server, notify, hooks, archive, privacy, retention } = effective;
  const memoryBytes = parseSize(effective.memory) ?? 0;
  return {
    api: {
      maxConcurrency: api.max_concurrency,
      requestsPerSecond: api.requests_per_second,
      timeoutMs: ms(api.timeout),
      maxWaitMs: ms(api.max_wait),
      memoryBytes: Math.floor(memoryBytes * ANSWERS_SHARE),
    },
    companies,
    destination: destination(effective.destination, directory, Math.floor((memoryBytes * DATABASE_SHARE) / 1e6)),
    streams: {
      preset: streams.preset,
      include: streams.include,
      exclude: streams.exclude,
      start: streams.start,
      defaults: {
        unknownFields: streams.defaults.unknown_fields,
        audit: streams.defaults.audit,
        maxRejectShare: streams.defaults.max_reject_share,
        history: streams.defaults.history,
      },
      settings: Object.fromEntries(
        Object.entries(streams.settings).map(([name, own]) => [name, settings(own, streams.defaults)]),
      ),
    },
    deletes: {
      maxShare: deletes.max_share,
      minRows: deletes.min_rows,
      confirmMax: deletes.confirm_max,
      secondLookPages: deletes.second_look_pages,
    },
    problems: { maxShare: problems.max_share, onExceed: problems.on_exceed },
    formats,
    privacy: {
      pii: privacy.pii,
      key: privacy.key,
      exclude: privacy.exclude_columns,
      hash: privacy.hash_columns,
      mask: privacy.mask_columns,
    },
    schedules: effective.schedules.map(({ name, cron, timezone, streams: selection, retries, ...times }) => ({
      name,
      cron,
      timezone,
      streams: selection,
      retries,
      maxTimeMs: optionalMs(times.max_time),
      jitterMs: ms(times.jitter),
      waitMs: ms(times.wait),
      retryAfterMs: ms(times.retry_after),
    })),
    server: { ...listener(server.listen), token: server.token, login: server.login },
    freshness: { lateAfterMs: ms(effective.freshness.late_after) },
    notify: { atMostEveryMs: ms(notify.at_most_every), targets: (notify.targets ?? []).map(target) },
    hooks: hooks && {
      secret: hooks.secret,
      streams: hooks.streams,
      debounceMs: ms(hooks.debounce),
      atMostEveryMs: ms(hooks.at_most_every),
    },
    archive: archive && {
      path: resolve(directory, archive.path),
      keepMs: ms(archive.keep),
      onError: archive.on_error,
    },
    retention: {
      // A replay asks the run log which of the archive's answers were loaded.
      runsMs: Math.max(ms(retention.runs), archive === undefined ? 0 : ms(archive.keep)),
      rejectsMs: ms(retention.rejects),
      verificationsMs: ms(retention.verifications),
    },
    views: effective.views,
    backfill: { confirmAbove: effective.backfill.confirm_above },
  };
}

/** The origin and path of an address, without a slash at its end and without /api/v1. */
export function serviceAddress(address: string): string {
  const { origin, pathname } = new URL(address);
  return `${origin}${pathname}`.replace(/\/+$/, "").replace(/\/api\/v1$/, "");
}

function destination(given: EffectiveConfig["destination"], directory: string, memoryMb: number): DestinationConfig {
  const shared = { schema: given.schema, stateSchema: given.state_schema, publishEveryMs: ms(given.publish_every) };
  if (given.type === "postgres") {
    const waits = { connectWaitMs: ms(given.connect_wait), lockWaitMs: ms(given.lock_wait) };
    const { url = "", grant_select_to: grantSelectTo = [] } = given;
    return { type: "postgres", url, grantSelectTo, ...waits, ...shared };
  }
  const path = resolve(directory, given.path);
  return { type: "duckdb", path, readers: given.readers, keepVersions: given.keep_versions, memoryMb, ...shared };
}

function settings(
  given: EffectiveConfig["streams"]["settings"][string],
  defaults: EffectiveConfig["streams"]["defaults"],
): StreamSettings {
  return {
    fullScanPages: given.full_scan_pages,
    fullScanEveryMs: optionalMs(given.full_scan_every),
    lookbackMs: optionalMs(given.lookback),
    refresh: given.refresh && { while: given.refresh.while, everyMs: ms(given.refresh.every) },
    maxDetails: given.max_details,
    volatile: given.volatile ?? [],
    statuses: given.statuses ?? [],
    values: given.values ?? [],
    parameters: given.parameters ?? {},
    from: given.from ?? {},
    rename: given.rename ?? {},
    refreshEveryMs: optionalMs(given.refresh_every),
    unknownFields: given.unknown_fields ?? defaults.unknown_fields,
    audit: given.audit,
    maxRejectShare: given.max_reject_share,
    history: given.history,
  };
}

function target({ url, command, format, on }: NonNullable<EffectiveConfig["notify"]["targets"]>[number]): NotifyTarget {
  return { to: url === undefined ? { command: command ?? [] } : { url, format }, on };
}

function listener(listen: string): Pick<Config["server"], "host" | "port"> {
  const colon = listen.lastIndexOf(":");
  return { host: listen.slice(0, colon).replace(/^\[|\]$/g, ""), port: Number(listen.slice(colon + 1)) };
}

function ms(duration: string): number {
  const parsed = parseDuration(duration);
  if (parsed === undefined) throw new Error(`the schema let the duration ${duration} pass`);
  return parsed;
}

const optionalMs = (duration: string | undefined): number | undefined =>
  duration === undefined ? undefined : ms(duration);
