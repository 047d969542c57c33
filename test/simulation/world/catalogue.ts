import { z } from "zod";
import {
  count,
  flag,
  id,
  json,
  moment,
  money,
  notGiven,
  quantity,
  table,
  text,
  volatile,
} from "../../../schemas/fields.ts";
import type { Column } from "../../../src/catalog/columns.ts";
import { defineStream, detail, feed, list, lookup, type Stream, scan, snapshot } from "../../../src/catalog/stream.ts";
import { streamOf } from "../../catalog/streams.ts";

/** The lists whose rows can be changed. */
export const lists = ["orders", "notes", "parts", "events", "queue"] as const;
export type ListName = (typeof lists)[number];

/*
 * A small catalogue with one stream of every shape. `v` is the service's version of the row and of all that is told with it:
 * rows of one answer that differ in it are a mixture.
 */

const orders = streamOf(
  "orders",
  {
    order_id: id(),
    v: count(),
    n_lines: count(),
    title: text().nullable(),
    amount: money(notGiven),
    vendor_id: id().nullable(),
    is_open: flag(),
    ordered_at: moment(),
    age_days: volatile(count()),
    lines: table("order_lines", "Lines.", { v: count(), item: text(), qty: quantity() }),
  },
  { mode: scan({ rows: "orders", total: "total", confirm: "/orders/{order_id}" }), preset: "all" },
);

const orderDetails = streamOf(
  "order_details",
  {
    order_id: id(),
    v: count(),
    n_parts: count(),
    note: text().nullable(),
    parts: table("order_parts", "Parts.", { v: count(), name: text() }),
  },
  { path: "/orders/{order_id}", mode: detail({ of: "orders", open: "is_open", newest: "ordered_at" }), preset: "all" },
);

const orderMoves = streamOf(
  "order_moves",
  { v: count(), n_moves: count(), place: text() },
  {
    path: "/orders/{order_id}/moves",
    mode: detail({ of: "orders", rows: "moves", paged: true }),
    key: ["order_id", "_index"],
    preset: "all",
  },
);

const vendors = streamOf(
  "vendors",
  { vendor_id: id(), name: text() },
  { path: "/vendors/{vendor_id}", mode: detail({ of: "orders", by: "vendor_id", everyDays: 7 }), preset: "all" },
);

const entry = { v: count(), title: text().nullable(), amount: money(notGiven), age_days: volatile(count()) };

/** Without a total or an endpoint of its rows: only a later run tells what is gone. */
const notes = streamOf("notes", { note_id: id(), ...entry }, { mode: scan({ rows: "notes" }), preset: "all" });

const parts = streamOf(
  "parts",
  { part_id: id(), ...entry },
  { mode: scan({ rows: "parts", confirm: "/parts/{part_id}" }), preset: "all" },
);

const events = streamOf(
  "events",
  { event_id: id(), happened_at: moment().nullable(), ...entry },
  {
    mode: feed({
      rows: "events",
      highWaterColumn: "happened_at",
      narrow: { by: "dates", from: "date_from", to: "date_to" },
      fullScanPages: 1,
      fullScanEveryDays: 30,
      lookbackDays: 2,
    }),
    preset: "all",
  },
);

const queue = streamOf(
  "queue",
  { queue_id: id(), ...entry },
  { mode: list({ rows: "queue", total: "total", absence: "left" }), preset: "all" },
);

const rates = streamOf(
  "rates",
  { v: count(), rate: quantity() },
  { mode: snapshot({ parameters: { period: ["30", "90"] } }), key: ["observed_on", "period"], preset: "all" },
);

/** The regions that are asked for; the service knows nothing of the last. */
export const REGIONS: readonly string[] = ["north", "south", "nowhere"];

const prices = streamOf(
  "prices",
  { price_id: id(), v: count(), amount: money(notGiven) },
  { mode: lookup({ ask: ["region"], rows: "prices" }), key: ["region", "price_id"], preset: "lookup" },
);

export const catalogue: readonly Stream[] = [
  orders,
  notes,
  parts,
  events,
  queue,
  prices,
  rates,
  orderDetails,
  orderMoves,
  vendors,
];

/**
 * Which program runs: the first one, or one after it, whose documents name the fields that the service adds to rows of lists.
 * "plain" calls them what `unknown_fields: column` makes of them, "typed" knows more.
 */
export type Program = "first" | "plain" | "typed";

export const releases: Readonly<Record<Program, string>> = { first: "0.1.0", plain: "0.2.0", typed: "0.2.0" };

const documented = {
  plain: { x_future_score: text().nullable(), x_future_note: json().nullable() },
  typed: {
    x_future_score: quantity().nullable(),
    x_future_note: z.object({ text: text(), number: count() }).nullable(),
  },
};

/** What becomes a column only later: what was added, or what a later program's documents name. */
export const isLate = ({ name, added }: Pick<Column, "name" | "added">): boolean =>
  added === true || name.startsWith("x_future_");

export const catalogues: Readonly<Record<Program, readonly Stream[]>> = {
  first: catalogue,
  plain: catalogue.map(stream => withFields(stream, documented.plain)),
  typed: catalogue.map(stream => withFields(stream, documented.typed)),
};

function withFields(stream: Stream, fields: z.ZodRawShape): Stream {
  if (!(lists as readonly string[]).includes(stream.name)) return stream;
  return defineStream({ ...stream, row: z.object({ ...stream.row.shape, ...fields }).describe("Rows of a list.") });
}

/** Streams that are worth being on together: a scenario takes some of these. */
export const groups = [
  ["orders", "order_details"],
  ["orders", "order_moves"],
  ["orders", "vendors"],
  ["notes"],
  ["parts"],
  ["events"],
  ["queue"],
  ["rates"],
  ["prices"],
] as const;
