import type { Stream } from "../../src/catalog/stream.ts";
import { identityEndpoint } from "../../streams/identity.ts";
import type { Instead, Passing } from "../support/interposed.ts";
import type { Ordered, Setting } from "../support/run.ts";
import type { Warehouse } from "../support/warehouse.ts";
import { type Scenario, scenario } from "./scenario.ts";

/** What the service says of one path: data, or another status; undefined is a 404. */
export type Say = (passing: Passing) => unknown;

/** A service that answers as the test says, a catalogue of the test's own, and runs of it. */
export interface Told extends Scenario {
  /** By path; changed between runs. */
  readonly says: Record<string, Say>;
  /** Paths with their queries, in the order of the requests of the last run. */
  readonly asked: string[];
  /** A run of all streams that are on. */
  run(order?: Ordered): ReturnType<Scenario["sync"]>;
}

export const instead = (status: number, body: unknown): Instead => ({ status, body });

/** An answer of a list that has further pages. */
export const page = (data: unknown, next: string | null): Instead =>
  instead(200, { data, pagination: { has_more: next !== null, next_cursor: next } });

export const noSuch = instead(404, { error: { code: "NOT_FOUND", message: "no such thing", request_id: "r" } });

export async function told(
  make: () => Promise<Warehouse>,
  catalogue: readonly Stream[],
  says: Record<string, Say>,
  config: Readonly<Record<string, unknown>> = {},
  more: Pick<Setting, "run"> = {},
): Promise<Told> {
  const place = await scenario(make, {}, { ...more, config });
  const asked: string[] = [];
  place.look = async passing => {
    if (passing.path === identityEndpoint.path) return undefined;
    const say = says[passing.path];
    asked.push(`${passing.path}${passing.query.size === 0 ? "" : `?${passing.query}`}`);
    const answer = await say?.(passing);
    if (answer === undefined) return noSuch;
    return isInstead(answer) ? answer : instead(200, { data: answer });
  };
  return Object.assign(place, {
    says,
    asked,
    run: async (order: Ordered = {}) => {
      asked.length = 0;
      return place.sync({ catalogue, ...order });
    },
  });
}

const isInstead = (answer: unknown): answer is Instead =>
  typeof answer === "object" && answer !== null && "status" in answer && "body" in answer;
