import PQueue from "p-queue";
import { ConfigError } from "../../errors.ts";
import type { Log } from "../../logging.ts";
import { knows, requireIdentity } from "../../warehouse/state/identity.ts";
import { runMessages } from "./messages.ts";
import type { Service } from "./service.ts";

/** Streams of all companies worked on at once: enough to fill the request limit, few enough to bound memory. */
const STREAMS_AT_ONCE = 6;
/** So that each still has two streams. */
const COMPANIES_AT_ONCE = 3;

/** What a warehouse remembers a company by. */
export const identityOf = ({ company: { name, baseUrl }, companyId }: Service) => ({ name, baseUrl, companyId });

/** Whether the warehouse may know it by its address from now on. */
export const isAccepted = (service: Service): boolean => isItself(service) && service.failure === undefined;

/** Whether a run may touch what the warehouse keeps of the company. */
export const isItself = ({ failure }: Service): boolean => !(failure instanceof ConfigError);

/** The name and the facts by which a warehouse is recognized; undefined: nothing has been loaded. */
export interface Known {
  readonly schema: string;
  readonly facts: ReadonlyMap<string, unknown> | undefined;
}

/**
 * Compares each company with what the warehouse knows of it and with the others; one that is not itself fails alone. `accept` proves that an unknown service
 * which has answered nothing yet is one. @throws ConfigError when none is left, unless there `mayBeNone`
 */
export async function holdToWarehouse(
  services: readonly Service[],
  { schema, facts }: Known,
  program: string,
  accept: (service: Service) => Promise<Service> = async service => service,
  mayBeNone = false,
  acceptsAddress = false,
): Promise<Service[]> {
  const held: Service[] = [];
  for (const service of services) {
    if (!isItself(service)) {
      held.push(service);
      continue;
    }
    const own = identityOf(service);
    try {
      requireOwnKey(own, held.filter(isItself).map(identityOf));
      if (facts !== undefined) requireIdentity(facts, { schema, program, companies: [own], acceptsAddress });
      const isKnown = facts !== undefined && knows(facts, own.name);
      const waits = !isKnown && !service.accepted && service.failure === undefined;
      held.push(waits ? await accept(service) : service);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      held.push({ ...service, failure: error });
    }
  }
  if (!mayBeNone && !held.some(isItself)) throw held[0]?.failure;
  return held;
}

/** One company under two names would be loaded twice, and every sum over `_company` be double. @throws ConfigError */
export function requireOwnKey({ name, companyId }: KeyOwner, others: readonly KeyOwner[]): void {
  const twin = others.find(other => companyId !== undefined && other.companyId === companyId);
  if (twin === undefined) return;
  throw new ConfigError(runMessages.same_company({ company: name, other: twin.name, company_id: companyId }));
}

interface KeyOwner {
  readonly name: string;
  readonly companyId: string | undefined;
}

/** Works for several companies at once, so that the pauses of one hold up no other; `work` is told how many streams it may have open. */
export async function sideBySide(
  services: readonly Service[],
  work: (service: Service, streamsAtOnce: number) => Promise<void>,
  most = COMPANIES_AT_ONCE,
): Promise<void> {
  const atOnce = Math.min(most, Math.max(1, services.length));
  const queue = new PQueue({ concurrency: atOnce });
  const streamsAtOnce = Math.max(1, Math.floor(STREAMS_AT_ONCE / atOnce));
  await Promise.all(services.map(service => queue.add(() => work(service, streamsAtOnce))));
}

/** A log whose lines tell the company, where there are several. */
export function logOf(log: Log, company: string, several: boolean): Log {
  if (!several) return log;
  return {
    info: (message, facts) => log.info(message, { company, ...facts }),
    warn: (message, facts) => log.warn(message, { company, ...facts }),
    error: (message, facts) => log.error(message, { company, ...facts }),
    debug: (event, facts) => log.debug(event, { company, ...facts }),
  };
}
