import { describe, expect, test } from "vitest";
import { count, id, text } from "../../../schemas/fields.ts";
import type { Relation } from "../../../src/catalog/relation.ts";
import { detail } from "../../../src/catalog/stream.ts";
import { systemClock } from "../../../src/clock.ts";
import { streamOf } from "../../catalog/streams.ts";
import { lineOf } from "../../support/run.ts";
import { eitherWarehouse, type Warehouse } from "../../support/warehouse.ts";
import { type Told, told } from "../answers.ts";

const orders = streamOf("orders", { order_id: id(), note: text().nullable() });
const invoices = streamOf("invoices", { invoice_id: id(), of_order: text().nullable(), amount: count().nullable() });
const orderDetails = streamOf(
  "order_details",
  { order_id: id(), invoiced: count() },
  { path: "/orders/{order_id}", mode: detail({ of: "orders" }) },
);
const matches = streamOf(
  "invoice_matches",
  { invoice_id: id(), order_note: text().nullable() },
  { path: "/invoices/{invoice_id}/match", mode: detail({ of: "invoices" }) },
);
const catalogue = [orders, invoices, orderDetails, matches];
const relation: Relation = {
  from: { table: "invoices", columns: ["of_order"] },
  to: { table: "orders", columns: ["order_id"] },
  certainty: "assumed",
  toOne: true,
  refreshes: { to: ["order_details"], from: ["invoice_matches"] },
  note: "The order of an invoice.",
};

interface Invoice {
  readonly of: string | null;
  readonly amount: number;
}

/** A service in which an order's details sum up its invoices, and an invoice's match shows its order. */
class Books {
  readonly orders = new Map<string, string>();
  readonly invoices = new Map<string, Invoice>();
  /** How long a list takes, in ms. */
  readonly delays: Record<string, number> = {};

  constructor(count: number) {
    for (let nth = 0; nth < count; nth++) {
      this.orders.set(`O-${nth}`, "as ordered");
      this.invoices.set(`I-${nth}`, { of: `O-${nth}`, amount: 10 });
    }
  }

  says(): Told["says"] {
    const later = async (path: string, answer: () => unknown) => {
      const ms = this.delays[path];
      if (ms !== undefined) await systemClock.sleep(ms);
      return answer();
    };
    return new Proxy({} as Told["says"], {
      get: (_, path: string) => {
        if (path === "/orders")
          return () =>
            later(path, () => ({ orders: [...this.orders].map(([order_id, note]) => ({ order_id, note })) }));
        if (path === "/invoices")
          return () =>
            later(path, () => ({
              invoices: [...this.invoices].map(([invoice_id, { of, amount }]) => ({
                invoice_id,
                of_order: of,
                amount,
              })),
            }));
        const [, order] = /^\/orders\/(.+)$/.exec(path) ?? [];
        if (order !== undefined) return () => ({ order_id: order, invoiced: this.invoicedOf(order) });
        const [, invoice] = /^\/invoices\/(.+)\/match$/.exec(path) ?? [];
        if (invoice === undefined || !this.invoices.has(invoice)) return undefined;
        return () => ({
          invoice_id: invoice,
          order_note: this.orders.get(this.invoices.get(invoice)!.of ?? "") ?? null,
        });
      },
    });
  }

  invoicedOf(order: string): number {
    return [...this.invoices.values()].filter(({ of }) => of === order).reduce((sum, { amount }) => sum + amount, 0);
  }
}

async function placeOf(make: () => Promise<Warehouse>, books: Books, config: object = {}) {
  const place = await told(make, catalogue, books.says(), {
    streams: { defaults: { details: { audit: 0.01 } } },
    ...config,
  });
  const night = () => {
    place.clock.advance(3_600_000);
    return place.run({ relations: () => [relation] });
  };
  const wrong = async () => {
    const rows = await place.warehouse.query<{ order_id: string; invoiced: number }>(
      "select order_id, invoiced from procurement.order_details where _deleted_at is null",
    );
    const notes = await place.warehouse.query<{ invoice_id: string; order_note: string | null }>(
      "select invoice_id, order_note from procurement.invoice_matches where _deleted_at is null",
    );
    return [
      ...rows.filter(row => Number(row.invoiced) !== books.invoicedOf(row.order_id)).map(row => row.order_id),
      ...notes
        .filter(row => row.order_note !== (books.orders.get(books.invoices.get(row.invoice_id)?.of ?? "") ?? null))
        .map(row => row.invoice_id),
    ];
  };
  return { place, night, wrong };
}

const askedFor = ({ asked }: Told, pattern: RegExp) => asked.filter(path => pattern.test(path)).toSorted();

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test.each([
    ["/orders", "the orders' list"],
    ["/invoices", "the invoices' list"],
  ])("what a change of a row makes due is right after the same run, also when %s comes last", async slow => {
    const books = new Books(100);
    const { place, night, wrong } = await placeOf(make, books);
    await night();
    expect(await wrong()).toEqual([]);
    books.delays[slow] = 300;
    // Changed, new, moved from one order to another, gone; and an order of which invoices tell.
    books.invoices.set("I-1", { of: "O-1", amount: 25 });
    books.invoices.set("I-new", { of: "O-2", amount: 7 });
    books.invoices.set("I-3", { of: "O-4", amount: 10 });
    books.invoices.delete("I-5");
    books.orders.set("O-9", "as changed");
    const report = await night();
    expect(report).toMatchObject({ errors: [], exit_code: 0 });
    expect(await wrong()).toEqual([]);
    const details = askedFor(place, /^\/orders\/./);
    for (const order of ["O-1", "O-2", "O-3", "O-4", "O-5", "O-9"])
      expect(details.filter(path => path === `/orders/${order}`)).toHaveLength(1);
    expect(askedFor(place, /match$/)).toContain("/invoices/I-9/match");
    // Nothing is left to do, and an unchanged night asks for its audit alone.
    expect(await place.count("_tributary.detail_due")).toBe(0);
    await night();
    expect(place.asked).toHaveLength(2 + 1 + 1);

    books.invoices.set("I-5", { of: "O-5", amount: 10 });
    await night();
    expect(await wrong()).toEqual([]);
    const causes = await place.warehouse.query<{ stream: string; cause: string; found: number; unchanged: number }>(
      "select stream, cause, found, unchanged from _tributary.detail_causes order by stream",
    );
    expect(causes).toEqual([
      { stream: "invoice_matches", cause: "orders", found: 1, unchanged: 0 },
      { stream: "order_details", cause: "invoices", found: 6, unchanged: 0 },
    ]);
  });

  test("more than a night's budget allows waits at the head of the next one's, and those that waited longest go first", async () => {
    const books = new Books(400);
    const { place, night, wrong } = await placeOf(make, books);
    await night();
    for (let nth = 0; nth < 150; nth++) books.invoices.set(`I-${nth}`, { of: `O-${nth}`, amount: 11 });
    await night();
    // A hundred are always served, though four are this night's budget, of which causes leave two to others: these may be theirs, too.
    expect(askedFor(place, /^\/orders\/./)).toHaveLength(102);
    const waiting = await wrong();
    expect([48, 49, 50]).toContain(waiting.length);
    expect(waiting.every(order => Number(order.slice(2)) < 150)).toBe(true);
    for (let nth = 200; nth < 300; nth++) books.invoices.set(`I-${nth}`, { of: `O-${nth}`, amount: 12 });
    await night();
    const left = await wrong();
    expect(left.length).toBeGreaterThanOrEqual(46);
    expect(left.every(order => Number(order.slice(2)) >= 200)).toBe(true);
    await night();
    expect(await wrong()).toEqual([]);
  });

  test("a cause that finds nothing is said after 500, goes behind the others, and is taken away by the configuration", async () => {
    const books = new Books(120);
    const { place, night } = await placeOf(make, books);
    await night();
    // What an order's details show does not change with these.
    const shown = books.invoicedOf.bind(books);
    books.invoicedOf = order => (Number(order.slice(2)) < 100 ? 10 : shown(order));
    for (let round = 1; round <= 6; round++) {
      for (let nth = 0; nth < 100; nth++) books.invoices.set(`I-${nth}`, { of: `O-${nth}`, amount: 10 - (round % 2) });
      const report = await night();
      const notes = report.notes.filter(({ code }) => code === "details.idle_cause");
      expect(notes).toHaveLength(round < 5 ? 0 : 1);
    }
    const [row] = await place.warehouse.query<{ in_vain: number }>(
      "select in_vain from _tributary.detail_causes where cause = 'invoices'",
    );
    expect(Number(row!.in_vain)).toBe(600);
    place.configure({
      streams: {
        defaults: { details: { audit: 0.01 } },
        settings: { order_details: { details: { without: ["invoices"] } } },
      },
    });
    books.invoices.set("I-1", { of: "O-1", amount: 99 });
    await night();
    expect(await place.count("_tributary.detail_due")).toBe(0);
  });

  test("a first load tells of no change, a list that is loaded for the first time neither", async () => {
    const books = new Books(50);
    const { place, night } = await placeOf(make, books);
    await place.run({ names: ["order_details"], relations: () => [relation] });
    await night();
    expect(await place.count("_tributary.detail_due")).toBe(0);
    expect(lineOf(await night(), "order_details").requests).toBe(1);
  });
});
