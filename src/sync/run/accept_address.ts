import { fixedPaths, type Stream } from "../../catalog/stream.ts";
import { ConfigError } from "../../errors.ts";
import type { Api } from "../../source/api.ts";
import { proofIn } from "../../source/evidence.ts";
import { buildPath } from "../../source/path.ts";
import { withTables, youngestKeys } from "../../warehouse/ddl/present_tables.ts";
import type { Destination } from "../../warehouse/destination.ts";
import { knownAs, recordAddress } from "../../warehouse/state/identity.ts";
import { runMessages } from "./messages.ts";
import type { Service } from "./service.ts";

/** Rows of the warehouse that the service is asked for. */
const KEYS = 50;
/** The share that has to be found: rows may have been deleted. */
const ENOUGH = 0.9;

/**
 * Records a company's new address where the same service answers there: the company's id, if both are known, is the same, and the
 * service has rows that the warehouse knows. The company's locks are held. @throws ConfigError for another service, ApiError
 */
export async function acceptAddress(
  { company: { name, baseUrl }, companyId, api }: Service,
  destination: Destination,
  catalogue: readonly Stream[],
  signal: AbortSignal,
): Promise<ReturnType<typeof runMessages.address_accepted> | undefined> {
  const kept = await knownAs(destination.db, name);
  if (kept === undefined || kept.base_url === baseUrl) return undefined;
  const counted = await requestRows(api, destination, name, catalogue, signal);
  const facts = { company: name, from: kept.base_url, to: baseUrl, ...counted };
  const isSame =
    counted.requested === 0
      ? companyId !== undefined && companyId === kept.company_id
      : counted.found >= ENOUGH * counted.requested;
  if (!isSame) throw new ConfigError(runMessages.another_service(facts));
  await destination.db.transaction().execute(trx => recordAddress(trx, name, baseUrl, companyId));
  return runMessages.address_accepted(facts);
}

async function requestRows(
  api: Api,
  destination: Destination,
  company: string,
  catalogue: readonly Stream[],
  signal: AbortSignal,
): Promise<{ readonly requested: number; readonly found: number }> {
  const siblings = fixedPaths(catalogue);
  const counted = { requested: 0, found: 0 };
  for (const { mode, tables } of await withTables(destination, catalogue)) {
    const confirm = mode.kind === "scan" || mode.kind === "feed" ? mode.confirm : undefined;
    if (confirm === undefined || counted.requested === KEYS) continue;
    for (const key of await youngestKeys(destination, company, tables, KEYS - counted.requested)) {
      counted.requested++;
      const isThere = await api.get(buildPath(confirm, key, siblings), {}, { signal }).then(() => true, isMissing);
      if (isThere) counted.found++;
    }
  }
  return counted;
}

function isMissing(error: unknown): false {
  if (proofIn(error) === "nothing") throw error;
  return false;
}
