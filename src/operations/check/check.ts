import type { IdentityEndpoint, Stream } from "../../catalog/stream.ts";
import type { Company } from "../../config/config.ts";
import { isFile } from "../../config/destination.ts";
import type { LoadedConfig } from "../../config/load.ts";
import { configMessages } from "../../config/messages.ts";
import { selectedByConfig, versionedBy } from "../../config/selection.ts";
import { ConfigError } from "../../errors.ts";
import { configured } from "../../privacy/configured_catalog.ts";
import { requireOwnKey } from "../../sync/run/companies.ts";
import { policyOf } from "../../sync/run/jobs.ts";
import type { ServiceTools } from "../../sync/run/service.ts";
import { checkDestination, currencyLine } from "./destination.ts";
import { type CheckLine, failure, ok } from "./line.ts";
import { checkMessages } from "./messages.ts";
import { checkReports } from "./reports.ts";
import { checkSchedules } from "./schedules.ts";
import { checkService } from "./service.ts";
import { checkSurroundings, type Programs } from "./surroundings.ts";

export type { CheckLine } from "./line.ts";

export interface CheckOrder {
  readonly loaded: LoadedConfig;
  readonly companies: readonly Company[];
  readonly catalogue: readonly Stream[];
  readonly identity: IdentityEndpoint;
  /** Skips everything that needs a network. */
  readonly offline: boolean;
  readonly programs: Programs;
}

/** Looks at everything a run needs, line by line, and writes nothing. @throws ConfigError for streams that don't exist */
export async function* runCheck(order: CheckOrder, tools: ServiceTools): AsyncGenerator<CheckLine> {
  const { loaded, companies, offline, identity } = order;
  const { config } = loaded;
  const catalogue = configured(order.catalogue, config);
  const streams = selectedByConfig(catalogue, config.streams);
  yield streams.length === 0
    ? failure("streams", new ConfigError(configMessages.no_stream_on()))
    : ok("streams", checkMessages.streams_on({ on: streams.length, streams: catalogue.length }));
  const found: { name: string; baseUrl: string; companyId: string | undefined }[] = [];
  for (const company of companies) {
    const { name, baseUrl } = company;
    const askingOf = (name: string) => policyOf(config, name);
    const check = { company, settings: config.api, identity, streams, askingOf, tools };
    const companyId = offline ? undefined : yield* named(checkService(check), companies.length > 1 ? name : undefined);
    try {
      requireOwnKey({ name, companyId }, found);
    } catch (error) {
      yield failure(`${name}: api key`, error);
    }
    found.push({ name, baseUrl, companyId });
  }
  if (offline) yield ok("api key", checkMessages.offline());
  if (offline && !isFile(config.destination)) yield ok("destination", checkMessages.offline());
  else {
    const versioned = versionedBy(streams, config.streams);
    yield* checkDestination(
      config.destination,
      {
        ...{ version: tools.version, companies: found, catalogue, streams, versioned },
        ...{ views: config.views !== false, workers: config.workers !== undefined },
      },
      tools.clock,
    );
  }
  yield* checkSchedules({ loaded, catalogue, on: streams, now: tools.clock.now() });
  yield* checkSurroundings(config, order.programs);
  const rates = await currencyLine(config, offline);
  if (rates !== undefined) yield rates;
  yield* checkReports(config, offline);
}

async function* named<R>(
  lines: AsyncGenerator<CheckLine, R>,
  company: string | undefined,
): AsyncGenerator<CheckLine, R> {
  for (;;) {
    const { value, done } = await lines.next();
    if (done === true) return value;
    yield company === undefined ? value : { ...value, name: `${company}: ${value.name}` };
  }
}
