import { ByteBudget } from "../../src/byte_budget.ts";
import type { Clock } from "../../src/clock.ts";

/** What batches are told of time and memory, where memory is no matter. */
export const unlimited = (clock: Clock) => ({ clock, limiter: { memory: new ByteBudget(Number.POSITIVE_INFINITY) } });
