/** What the dashboard table says of a stream: how far its data is complete (ISO 8601), and whether it is on. */
interface Freshness {
  readonly complete_to: string | null;
  readonly on: boolean;
}

/** How old a stream's data is, in ms; undefined before it was first complete. */
export function ageOf(stream: Pick<Freshness, "complete_to">, now: number): number | undefined {
  return stream.complete_to === null ? undefined : Math.max(0, now - Date.parse(stream.complete_to));
}

/** Whether a stream is on and its data older than allowed. One that was never complete is not late: its first run tells how that went. */
export function isLate(stream: Freshness, lateAfterMs: number, now: number): boolean {
  const age = ageOf(stream, now);
  return stream.on && age !== undefined && age > lateAfterMs;
}
