import type { StreamStatus } from "./status.ts";

/** How old a stream's data is, in ms; undefined before it was first complete. */
export function ageOf(stream: Pick<StreamStatus, "complete_to">, now: number): number | undefined {
  return stream.complete_to === null ? undefined : Math.max(0, now - Date.parse(stream.complete_to));
}

/** Whether a stream is on and its data older than allowed. One that was never complete is not late: its first run tells how that went. */
export function isLate(stream: Pick<StreamStatus, "complete_to" | "on">, lateAfterMs: number, now: number): boolean {
  const age = ageOf(stream, now);
  return stream.on && age !== undefined && age > lateAfterMs;
}
