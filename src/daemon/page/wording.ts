import { html } from "hono/html";
import { roughly } from "../../duration.ts";

/** `850 ms`, `12 s`, `4 min 05 s`, `2 h 10 min`, `3 d 4 h`. */
export function span(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${two(seconds % 60)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} min`;
  const hours = Math.round(minutes / 60);
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

export function ago(moment: string, now: number): string {
  const passed = now - Date.parse(moment);
  return passed < 60_000 ? "just now" : `${roughly(passed)} ago`;
}

export function ahead(moment: string, now: number): string {
  const left = Date.parse(moment) - now;
  return left < 60_000 ? "in less than a minute" : `in ${roughly(left)}`;
}

/** `Sat 21 Nov, 02:00`, in UTC. */
export function date(moment: string): string {
  const at = new Date(moment);
  return `${days[at.getUTCDay()]} ${at.getUTCDate()} ${months[at.getUTCMonth()]}, ${clockTime(moment)}`;
}

/** `02:00`, in UTC. */
export const clockTime = (moment: string): string => moment.slice(11, 16);

/** A moment that says itself in full when it is pointed at; the page's script shows it in the reader's own zone. */
export const time = (moment: string, text = date(moment)) =>
  html`<time datetime="${moment}" title="${date(moment)} UTC"${text === date(moment) ? html` data-local` : ""}>${text}</time>`;

/** A sentence whose words in backticks are commands. */
export const prose = (text: string) =>
  text.split("`").map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));

/** A message as what happened and, where it goes on, what to do about it. */
export function parted(message: string): { readonly what: string; readonly advice: string | undefined } {
  const match = /^(.*?[.!])\s+(?=[A-Z`])(.+)$/s.exec(message.trim());
  if (match === null) return { what: message.trim(), advice: undefined };
  return { what: match[1]!, advice: match[2]! };
}

const days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

const two = (value: number): string => String(value).padStart(2, "0");
