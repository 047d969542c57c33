import type { Window } from "../../warehouse/state/stream_state.ts";

/**
 * Cuts a range of calendar dates into months, the newest first. A window reaches to the first day of the next one, that day
 * included: whether a service counts the last day in is not always documented. Without `to` the newest has no end.
 */
export function windowsOf(from: string, to: string | undefined, today: string): readonly Window[] {
  const windows: Window[] = [];
  let start = from;
  for (;;) {
    const next = monthAfter(start);
    const last = to === undefined ? next > today : next >= to;
    const end = last ? (to ?? null) : next;
    windows.unshift({ from: start, to: end, cursor: null, pages: 0, done: false });
    if (last) return windows;
    start = next;
  }
}

function monthAfter(day: string): string {
  const [year, month] = day.split("-").map(Number) as [number, number];
  return new Date(Date.UTC(year, month, 1)).toISOString().slice(0, 10);
}
