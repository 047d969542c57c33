import { id, moment } from "../../schemas/fields.ts";
import { feed } from "../../src/catalog/stream.ts";
import { streamOf } from "../catalog/streams.ts";
import { page, type Say } from "./answers.ts";

/** A row of it, as a service sends it. */
export interface Event {
  readonly event_id: string;
  readonly happened_at: string;
}

/** So many events an hour apart, the newest first, up to the first moment of a day. */
export const hourly = (count: number, to: string, name = "e"): Event[] =>
  Array.from({ length: count }, (_, nth) => ({
    event_id: `${name}${nth}`,
    happened_at: new Date(Date.parse(to) - (nth + 1) * 3_600_000).toISOString(),
  }));

/** Answers by its dates, the last day included, in pages of 100; `odd` are rows that its filter always lets through. */
export const eventsOf =
  (rows: () => readonly Event[], odd: () => readonly Event[] = () => []): Say =>
  ({ query }) => {
    const [from, to] = [query.get("date_from") ?? "0", query.get("date_to") ?? "9"];
    const inRange = rows().filter(row => row.happened_at >= from && row.happened_at.slice(0, 10) <= to);
    const some = [...inRange, ...odd()];
    const at = Number(query.get("cursor") ?? 0);
    const end = at + Number(query.get("limit"));
    return page({ events: some.slice(at, end) }, end < some.length ? String(end) : null);
  };

/** A feed by dates, of which one page at most is read whole each time. */
export const events = streamOf(
  "events",
  {
    event_id: id(),
    happened_at: moment().nullable(),
  },
  {
    mode: feed({
      rows: "events",
      highWaterColumn: "happened_at",
      narrow: { by: "dates", from: "date_from", to: "date_to" },
      fullScanPages: 1,
      fullScanEveryDays: 30,
      lookbackDays: 1,
    }),
  },
);
