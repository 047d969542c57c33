import { fixedPaths, type IdentityEndpoint, type Stream } from "../catalog/stream.ts";
import type { Company, Config } from "../config/config.ts";
import { lockGroupOf } from "../config/selection.ts";
import { ApiError, ConfigError } from "../errors.ts";
import { configured } from "../privacy/configured_catalog.ts";
import { buildPath } from "../source/path.ts";
import { holderOf } from "../sync/run/opening.ts";
import { fieldOf, openClient, type Service, type ServiceTools } from "../sync/run/service.ts";
import { openDestination } from "../warehouse/connect/open.ts";
import { looking, type WarehouseReading } from "../warehouse/connect/reading.ts";
import { withTables, youngestKeys } from "../warehouse/ddl/present_tables.ts";
import { compareIdentity, knownAs, moveCompany } from "../warehouse/state/identity.ts";
import { DATA_VERSION } from "../warehouse/state/state_ddl.ts";
import { moveMessages } from "./messages.ts";

export interface MoveOrder {
  readonly config: Config;
  readonly catalogue: readonly Stream[];
  readonly identity: IdentityEndpoint;
  readonly company: Company;
}

/** What the warehouse keeps of the company, and what the new address says. */
export interface Comparison {
  readonly company: string;
  readonly from: string;
  readonly to: string;
  /** The service's own id of the company: what is kept, and what the key belongs to there; null: not known. */
  readonly kept_id: string | null;
  readonly found_id: string | null;
  /** Rows of the warehouse that were asked for by their address, and how many are there. */
  readonly asked: number;
  readonly found: number;
  /** Whether it is the same service, as far as that can be told. */
  readonly same: boolean;
}

const KEYS = 50;
/** The share that has to be found: rows may have been deleted. */
const ENOUGH = 0.9;

/** Compares the service at the new address with what is kept; undefined when nothing has been loaded yet. @throws ConfigError, ApiError */
export async function compareAddresses(order: MoveOrder, tools: ServiceTools): Promise<Comparison | undefined> {
  const { company, config, identity } = order;
  return looking(config.destination, async reading => {
    await using api = await openClient(company, config.api, tools);
    const kept = await knownAs(reading.db, company.name);
    if (kept === undefined) throw new ConfigError(moveMessages.unknown_company({ company: company.name }));
    const found = fieldOf(
      (await api.get(identity.path, {}, { signal: tools.signal }).catch(unreadable))?.data,
      identity.id,
    );
    const counted = await askForRows(order, reading, api, tools.signal);
    const isSameId = kept.company_id !== null && found === kept.company_id;
    const isOtherId = kept.company_id !== null && found !== undefined && found !== kept.company_id;
    const areKnown = counted.asked > 0 && counted.found >= ENOUGH * counted.asked;
    return {
      company: company.name,
      from: kept.base_url,
      to: company.baseUrl,
      kept_id: kept.company_id,
      found_id: found ?? null,
      ...counted,
      same: !isOtherId && (counted.asked === 0 ? isSameId : areKnown),
    };
  });
}

/** A key without the right to read its company is no failure: the rows decide. */
function unreadable(error: unknown): undefined {
  if (error instanceof ApiError && error.failure === "forbidden") return undefined;
  throw error;
}

async function askForRows(
  { catalogue: all, config, company }: MoveOrder,
  reading: WarehouseReading,
  api: Service["api"],
  signal: AbortSignal,
): Promise<Pick<Comparison, "asked" | "found">> {
  const catalogue = configured(all, config);
  const siblings = fixedPaths(catalogue);
  const counted = { asked: 0, found: 0 };
  for (const { mode, tables } of await withTables(reading, catalogue)) {
    const confirm = mode.kind === "scan" || mode.kind === "feed" ? mode.confirm : undefined;
    if (confirm === undefined || counted.asked === KEYS) continue;
    for (const key of await youngestKeys(reading, company.name, tables, KEYS - counted.asked)) {
      counted.asked++;
      const isThere = await api.get(buildPath(confirm, key, siblings), {}, { signal }).then(() => true, isMissing);
      if (isThere) counted.found++;
    }
  }
  return counted;
}

function isMissing(error: unknown): false {
  if (error instanceof ApiError && (error.failure === "not_found" || error.failure === "forbidden")) return false;
  throw error;
}

/** Has the warehouse know the company by its new address. @throws ConfigError unless it is the same service, LockedError, DestinationError */
export async function move(
  { config, catalogue, company }: MoveOrder,
  compared: Comparison,
  run: Pick<ServiceTools, "clock"> & { readonly runId: string; readonly waitMs: number },
): Promise<void> {
  if (!compared.same) throw new ConfigError(moveMessages.another_service(compared));
  const startedAt = new Date(run.clock.now()).toISOString();
  const holder = holderOf("tributary move", startedAt);
  await using destination = await openDestination(config.destination, { ...run, holder }, run.waitMs);
  const { db, schema } = destination;
  // A warehouse of a newer program is left alone. Not compared is the company's address, which is to change.
  await compareIdentity(db, { schema, version: DATA_VERSION, companies: [] });
  const lockGroups = [...new Set(catalogue.map(stream => lockGroupOf(catalogue, stream)))];
  await destination.lock(company.name, lockGroups, run.waitMs);
  await moveCompany(db, company.name, company.baseUrl, compared.found_id);
  await destination.releaseToReaders();
}
