import { setTimeout as sleep } from "node:timers/promises";
import { type Simulator, startSimulator } from "../../../simulator/simulator.ts";
import { type StillClock, stillClock } from "../../support/clock.ts";

/*
 * The company whose warehouses the fixtures are. What is here makes the same service every time: change any of it, or what the
 * simulator says of a company, and the fixtures have to be made again (`make.ts`).
 */

const sizes = { orders: 10, invoices: 10, items: 8, findings: 6, ingested: 20 };

/** A warehouse remembers its service's address, and so does a scan that was stopped: the port has to be the same again. */
const PORTS = { postgres: 27_184, duckdb: 27_185 };

/** How long the port may be in the hands of another run of the same test. */
const PATIENCE_MS = 120_000;

const DAY = 86_400_000;

/** Versions of all streams would make the files three times as large. */
const VERSIONED = [
  ...["purchase_orders", "purchase_order_details", "invoices", "items", "item_sourcing", "findings", "contracts"],
  ...["dock_appointments", "communications", "insight_stats", "invoice_vendors"],
];

/** What every run is configured with; `archive` is the folder of the raw answers. */
export const configuration = (archive: string) => ({
  streams: {
    preset: "all",
    defaults: { max_reject_share: 0.6 },
    settings: {
      ...Object.fromEntries(VERSIONED.map(name => [name, { history: true }])),
      issues: { statuses: ["resolved"], history: true },
      purchase_order_as_of: { from: { po_number: "purchase_orders.po_number" }, parameters: { at: ["2026-03-01"] } },
    },
  },
  archive: { path: archive },
  views: true,
});

/** The service and the clock that it and the program go by. */
export interface Place {
  readonly simulator: Simulator;
  readonly clock: StillClock;
}

/** The service as it was before the first run. */
export async function openService(database: keyof typeof PORTS): Promise<Place> {
  const clock = stillClock("2026-03-10T02:00:00.000Z");
  for (let left = PATIENCE_MS; ; left -= 200) {
    try {
      return { clock, simulator: await startSimulator({ sizes, now: clock.date, port: PORTS[database] }) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE" || left <= 0) throw error;
      await sleep(200);
    }
  }
}

/** What happened before a run, and the run. */
export interface Night {
  readonly happens: (place: Place) => void;
  /** The streams that it reads; empty: all. */
  readonly names: readonly string[];
  /** How far its own clock is ahead of the service's, in ms. */
  readonly aheadMs: number;
}

const night = (happens: Night["happens"], more: Partial<Night> = {}): Night => ({
  happens,
  names: [],
  aheadMs: 0,
  ...more,
});

/** The life of the warehouses. */
export const nights: readonly Night[] = [
  night(({ simulator }) => {
    simulator.insert("contracts", 230);
    spoil(simulator);
  }),
  night(({ simulator, clock }) => {
    clock.advance(DAY);
    for (const name of ["purchase_orders", "invoices", "contracts", "dock_appointments", "communications"]) {
      simulator.update(name, 2);
      simulator.insert(name, 1);
    }
    simulator.delete("purchase_orders", ["PO-2"]);
    simulator.delete("contracts", ["CTR-50", "CTR-150"]);
    simulator.delete("dock_appointments", ["DA-1"]);
    simulator.delete("rfqs", 1);
  }),
  // A list that is missed twice has lost the row for sure.
  night(({ clock }) => clock.advance(DAY)),
  // The machine's clock was ahead for one run.
  night(
    ({ simulator, clock }) => {
      clock.advance(DAY / 4);
      simulator.update("purchase_orders", ["PO-3", "PO-4"]);
      simulator.update("contracts", ["CTR-5", "CTR-6"]);
    },
    { names: ["purchase_orders", "contracts"], aheadMs: 40 * DAY },
  ),
  night(({ simulator, clock }) => {
    clock.advance(DAY);
    simulator.restore("contracts", ["CTR-50"]);
    simulator.update("contracts", ["CTR-6"]);
    simulator.update("invoices", 2);
    simulator.update("findings", 1);
    simulator.patch("purchase_orders", "PO-5", { x_note: "a field that the documents don't name" });
  }),
  night(({ clock }) => clock.advance(DAY / 24)),
];

/** Streams read by the run that is killed half-way: a list of three pages. */
export const STOPPED = "contracts";

/** A run of one request: whatever else a first run does to a warehouse it does without any. */
export const SMALL = ["matching_settings"];

/** Values that don't fit their columns, and rows without a key: the same ones every night. */
function spoil(simulator: Simulator): void {
  const patch = (stream: string, nth: number, fields: Record<string, unknown>) => {
    const row = [...simulator.truth.rows(stream)][nth]!;
    simulator.patch(stream, String(row[keys[stream]!]), fields);
  };
  // Without a key: rejects.
  patch("items", 0, { item_id: null });
  patch("items", 1, { item_id: null });
  patch("documents", 1, { doc_id: null });
  patch("issues", 0, { id: null });
  // Moments in columns of dates, and bare dates and times in columns of moments.
  patch("invoices", 0, { due_date: "2026-03-20T14:30:00Z", discount_deadline: "2026-04-01T23:59:59+02:00" });
  patch("invoices", 1, { uploaded_at: "2026-03-01", document_date: "03/04/2026" });
  patch("communications", 0, { communication_date: "2026-02-27T08:15:00Z" });
  patch("dock_appointments", 0, { actual_departure: "14:30" });
  // Fractions in columns of whole numbers.
  patch("invoices", 2, { net_days: 30.5, due_in_days: -1.25 });
  patch("ingested", 0, { size_bytes: 12.5 });
  // Words and nothing in columns of numbers and dates.
  patch("invoices", 3, { total_amount: "n/a", tax_rate: "19 %" });
  patch("invoices", 4, { total_amount: "", due_date: "", net_days: "" });
  patch("items", 2, { avg_lead_time_days: "12 days", first_purchased: "" });
  const override = (path: string, field: string, change: (value: never) => unknown) => {
    const answer = simulator.truth.get(path) as Record<string, unknown>;
    simulator.patchDetail(path, { [field]: change(answer[field] as never) });
  };
  type Rows = readonly Readonly<Record<string, unknown>>[];
  const first = (fields: Record<string, unknown>) => (rows: Rows) =>
    rows.map((row, i) => (i === 0 ? { ...row, ...fields } : row));
  override("/po/PO-10", "price_moves", first({ change_pct: "12.5%" }));
  override("/po/PO-10", "shipment_tracking", first({ eta: "2026-03-11T16:00:00+01:00" }));
  override("/items/ITM-000005/transactions", "transactions", first({ date: "2026-01-31T10:00:00Z" }));
  override("/items/ITM-000005/vendors", "vendors", first({ last_price_update: "2026-01-31T10:00:00Z" }));
  override("/insights/stats", "this_month", () => 2.5);
  override("/reconciliation/vendors", "vendors", (rows: Rows) => [...rows, "Müller & Söhne"]);
}

const keys: Readonly<Record<string, string>> = {
  items: "item_id",
  documents: "doc_id",
  issues: "id",
  invoices: "doc_id",
  communications: "id",
  dock_appointments: "id",
  ingested: "id",
};
