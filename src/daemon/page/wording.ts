import { html } from "hono/html";

/** `Sat 21 Nov, 02:00`, in UTC. */
export function date(moment: string): string {
  const at = new Date(moment);
  return `${days[at.getUTCDay()]} ${at.getUTCDate()} ${months[at.getUTCMonth()]}, ${clockTime(moment)}`;
}

export const clockTime = (moment: string): string => moment.slice(11, 16);

/** A `<time>` with the full moment as its title; the page's script converts it to the reader's time zone. */
export const time = (moment: string, text = date(moment)) =>
  html`<time datetime="${moment}" title="${date(moment)} UTC"${text === date(moment) ? html` data-local` : ""}>${text}</time>`;

/** A sentence with its words in backticks as `<code>`. */
export const prose = (text: string) =>
  text.split("`").map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));

/** Splits a message into its first sentence and, where there is more, the advice. */
export function parted(message: string): { readonly what: string; readonly advice: string | undefined } {
  const match = /^(.*?[.!])\s+(?=[A-Z`])(.+)$/s.exec(message.trim());
  if (match === null) return { what: message.trim(), advice: undefined };
  return { what: match[1]!, advice: match[2]! };
}

const days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
