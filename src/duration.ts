const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** Milliseconds of `500ms`, `30s`, `10m`, `4h`, `7d` or `2w`; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d{1,9})\s*(ms|s|m|h|d|w)$/.exec(text.trim());
  if (match === null) return undefined;
  return Number(match[1]) * units[match[2] as keyof typeof units];
}

/** An age or a limit in one unit, rounded down: `5 min`, `3 h`, `4 d`. */
export function roughly(ms: number): string {
  const minutes = Math.max(0, ms) / units.m;
  if (minutes < 1) return "less than a minute";
  if (minutes < 60) return `${Math.floor(minutes)} min`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h`;
  return `${Math.floor(minutes / (24 * 60))} d`;
}

/** `5 min ago`; "never" without a moment. */
export function ago(moment: Date | string | null | undefined, now: number): string {
  if (moment === null || moment === undefined) return "never";
  const passed = now - new Date(moment).getTime();
  return passed < units.m ? "just now" : `${roughly(passed)} ago`;
}

/** How far ahead a moment is: `in 5 min`. */
export function ahead(moment: string, now: number): string {
  return `in ${roughly(Date.parse(moment) - now)}`;
}

/** What something took, or will take, in two units, rounded down: `850 ms`, `12 s`, `4 min 05 s`, `2 h 10 min`, `3 d 4 h`. */
export function timespan(ms: number): string {
  const whole = Math.max(0, Math.floor(ms));
  const [seconds, minutes, hours] = [whole / units.s, whole / units.m, whole / units.h].map(Math.floor) as [
    number,
    number,
    number,
  ];
  if (seconds < 1) return `${whole} ms`;
  if (minutes < 1) return `${seconds} s`;
  if (hours < 1) return `${minutes} min ${two(seconds % 60)} s`;
  if (hours < 48) return `${hours} h ${two(minutes % 60)} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

const two = (value: number): string => String(value).padStart(2, "0");
