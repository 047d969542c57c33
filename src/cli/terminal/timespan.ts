import { roughly } from "../../duration.ts";

/** `850 ms`, `12.3 s`, `4 min 05 s`, `2 h 10 min`, `3 d 4 h`. */
export function formatTimespan(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${two(seconds % 60)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} min`;
  const hours = Math.round(minutes / 60);
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** `5 min ago` for the past, as roughly as people say it; "never" without a moment. */
export function formatAge(moment: Date | string | null | undefined, now: number): string {
  if (moment === null || moment === undefined) return "never";
  const passed = now - new Date(moment).getTime();
  return passed < 60_000 ? "just now" : `${roughly(passed)} ago`;
}

const two = (value: number): string => String(value).padStart(2, "0");
