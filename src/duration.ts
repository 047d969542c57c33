const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** Milliseconds of `500ms`, `30s`, `10m`, `4h`, `7d` or `2w`; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d{1,9})\s*(ms|s|m|h|d|w)$/.exec(text.trim());
  if (match === null) return undefined;
  return Number(match[1]) * units[match[2] as keyof typeof units];
}

/** A duration in one unit, rounded down: `5 min`, `3 h`, `4 d`. Every age that is shown is formatted by it. */
export function roughly(ms: number): string {
  const minutes = Math.max(0, ms) / 60_000;
  if (minutes < 1) return "less than a minute";
  if (minutes < 60) return `${Math.floor(minutes)} min`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h`;
  return `${Math.floor(minutes / (24 * 60))} d`;
}
