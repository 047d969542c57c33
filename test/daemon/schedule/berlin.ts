const zone = new Intl.DateTimeFormat("sv-SE", {
  timeZone: "Europe/Berlin",
  dateStyle: "short",
  timeStyle: "short",
});

/** A moment as a clock on the wall in Berlin shows it: `2026-03-29 03:00`. */
export const onTheWall = (moment: number | string | Date): string => zone.format(new Date(moment));

/** The moment at which that clock shows this, for the first time. */
export function fromTheWall(shown: string): number {
  for (const offset of ["+02:00", "+01:00"]) {
    const moment = Date.parse(`${shown.replace(" ", "T")}${offset}`);
    if (onTheWall(moment) === shown) return moment;
  }
  throw new Error(`no clock in Berlin ever shows ${shown}`);
}
