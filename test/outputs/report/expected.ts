import { cleaned } from "../../../src/outputs/report/format.ts";

type Row = Readonly<Record<string, unknown>>;
/** A table's row: numbers with every digit, texts as the page shows them. */
export type Expected = readonly string[];

/** What the views hold of a company, as whole rows, to be worked out again without SQL. */
export interface Views {
  of(view: string): readonly Row[];
}

const SCALE = 10n ** 9n;
const TODAY = "2026-03-15";
const FROM = "2025-03-01";
const UNTIL = "2026-03-01";
const BEFORE = "2024-03-01";

/** A decimal's text as whole billionths. */
function units(value: unknown): bigint {
  if (value === null || value === undefined) return 0n;
  const [, sign, whole = "0", places = ""] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(String(value))!;
  const found = BigInt(whole) * SCALE + BigInt(places.padEnd(9, "0").slice(0, 9));
  return sign === "-" ? -found : found;
}

function decimal(value: bigint): string {
  const positive = value < 0n ? -value : value;
  const text = `${positive / SCALE}.${String(positive % SCALE).padStart(9, "0")}`.replace(/\.?0+$/, "");
  return value < 0n ? `-${text}` : text;
}

const sum = (rows: readonly Row[], name: string): string =>
  decimal(rows.reduce((total, row) => total + units(row[name]), 0n));
const share = (part: string, whole: string): string =>
  Number(whole) > 0 ? String(Math.round((Number(part) / Number(whole)) * 1e6) / 1e6) : "not given";
const text = (value: unknown): string => {
  const own = typeof value === "string" ? cleaned(value) : "";
  return own === "" ? "not given" : own;
};
const number = (value: unknown): string =>
  value === null || value === undefined ? "not given" : decimal(units(value));
const code = (value: unknown): string => (typeof value === "string" ? value : "currency unknown");
const within = (row: Row, from: string, until: string, name = "month"): boolean =>
  typeof row[name] === "string" && row[name] >= from && row[name] < until;
const grouped = (rows: readonly Row[], ...names: readonly string[]): (readonly Row[])[] => [
  ...Map.groupBy(rows, row => JSON.stringify(names.map(name => row[name] ?? null))).values(),
];
const label = (row: Row): string =>
  text(String(row["vendor_name"] ?? "").trim() || (row["vendor_id"] === null ? null : `vendor ${row["vendor_id"]}`));

/** Tables of the report by title, worked out from the views' rows alone; rows in any order. */
export const expectedTables: Readonly<Record<string, (views: Views) => readonly Expected[]>> = {
  "Spend by month": views => {
    const all = views.of("spend_by_vendor_month");
    const shifted = (month: unknown) => `${Number(String(month).slice(0, 4)) + 1}${String(month).slice(4)}`;
    const now = all.filter(row => within(row, FROM, "2026-03-16")).map(row => ({ ...row, now: true }) as Row);
    const past = all
      .filter(row => within(row, "2024-03-01", "2025-03-01"))
      .map(row => ({ ...row, month: shifted(row["month"]), now: false }) as Row);
    return grouped([...now, ...past], "currency_code", "month").map(rows => {
      const [present, earlier] = [rows.filter(row => row["now"]), rows.filter(row => !row["now"])];
      return [
        code(rows[0]!["currency_code"]),
        String(rows[0]!["month"]).slice(0, 7),
        sum(present, "invoice_count"),
        sum(present, "spend_amount"),
        earlier.length === 0 ? "not given" : sum(earlier, "spend_amount"),
      ];
    });
  },
  "Spend by vendor": views =>
    grouped(
      views.of("spend_by_vendor_month").filter(row => within(row, BEFORE, UNTIL)),
      "currency_code",
    ).flatMap(own => {
      const vendors = grouped(own, "vendor_id")
        .map(rows => {
          const now = rows.filter(row => within(row, FROM, UNTIL));
          const before = sum(
            rows.filter(row => within(row, BEFORE, FROM)),
            "spend_amount",
          );
          return { rows, now, before, spend: sum(now, "spend_amount"), invoices: sum(now, "invoice_count") };
        })
        .filter(({ invoices }) => invoices !== "0")
        .sort((a, b) => Number(b.spend) - Number(a.spend));
      const whole = decimal(vendors.reduce((total, { spend }) => total + units(spend), 0n));
      const rest = vendors.slice(15);
      const line = (name: string, some: typeof vendors): Expected => {
        const total = (pick: (one: (typeof vendors)[number]) => string) =>
          decimal(some.reduce((all, one) => all + units(pick(one)), 0n));
        const spend = total(one => one.spend);
        return [
          code(own[0]!["currency_code"]),
          name,
          total(one => one.invoices),
          spend,
          share(spend, whole),
          total(one => one.before),
        ];
      };
      const first = vendors.slice(0, 15).map(one => line(label(one.rows[0]!), [one]));
      return rest.length === 0 ? first : [...first, line(`All ${rest.length} others`, rest)];
    }),
  "How the currencies are known": views => {
    const all = views.of("spend_by_vendor_month").filter(row => within(row, FROM, UNTIL));
    return grouped(all, "currency_code", "currency_source").flatMap(rows => {
      const { currency_code, currency_source } = rows[0]!;
      const alike = all.filter(row => row["currency_code"] === currency_code);
      const spend = sum(rows, "spend_amount");
      const count = sum(rows, "invoice_count");
      const whole = sum(alike, "spend_amount");
      return count === "0" ? [] : [[code(currency_code), text(currency_source), count, spend, share(spend, whole)]];
    });
  },
  "Exceptions by kind": views =>
    grouped(views.of("invoice_exceptions"), "exception").map(rows => [
      text(rows[0]!["exception"]),
      String(rows.length),
      String(rows.filter(row => row["exception_number"] === 1).length),
    ]),
  "What exceptions are worth": views =>
    grouped(
      views.of("invoice_exceptions").filter(row => row["exception_amount"] !== null),
      "currency_code",
      "exception",
    ).map(rows => [
      code(rows[0]!["currency_code"]),
      text(rows[0]!["exception"]),
      String(rows.length),
      sum(rows, "exception_amount"),
    ]),
  "Three-way match": views => {
    const all = views.of("three_way_match");
    return grouped(all, "verdict").map(rows => [
      text(rows[0]!["verdict"]),
      String(rows.length),
      share(String(rows.length), String(all.length)),
    ]);
  },
  "How these invoices stand in the service's words": views =>
    grouped(
      views.of("invoice_exceptions").filter(row => row["exception_number"] === 1),
      "currency_code",
      "payment_status",
      "settlement_state",
    ).map(rows => [
      code(rows[0]!["currency_code"]),
      text(rows[0]!["payment_status"]),
      text(rows[0]!["settlement_state"]),
      String(rows.length),
      rows.every(row => row["invoice_amount"] === null) ? "not given" : sum(rows, "invoice_amount"),
    ]),
  "Savings by category": views =>
    grouped(views.of("findings_value"), "currency_code", "category").map(rows => [
      code(rows[0]!["currency_code"]),
      text(rows[0]!["category"]),
      String(rows.length),
      String(rows.filter(row => row["outcome"] === "open").length),
      sum(rows, "recoverable_amount"),
      sum(rows, "resolved_amount"),
    ]),
  "What became of findings": views => {
    const all = views.of("findings_value");
    return grouped(all, "currency_code", "outcome").map(rows => {
      const worth = sum(rows, "savings_amount");
      return [
        code(rows[0]!["currency_code"]),
        text(rows[0]!["outcome"]),
        String(rows.length),
        String(rows.filter(row => row["savings_amount"] === null).length),
        worth,
        share(worth, sum(all, "savings_amount")),
      ];
    });
  },
  "Age of what can still be had": views =>
    grouped(
      views.of("findings_value").filter(row => row["outcome"] === "open"),
      "currency_code",
      "age_bucket",
    ).map(rows => [
      code(rows[0]!["currency_code"]),
      text(rows[0]!["age_bucket"]),
      String(rows.length),
      sum(rows, "recoverable_amount"),
    ]),
  "Savings found by month": views =>
    grouped(
      views
        .of("findings_value")
        .filter(row => within(row, FROM, "2026-03-16", "created_date"))
        .map(row => ({ ...row, month: String(row["created_date"]).slice(0, 7) })),
      "currency_code",
      "month",
    ).map(rows => [
      code(rows[0]!["currency_code"]),
      String(rows[0]!["month"]),
      String(rows.length),
      sum(rows, "savings_amount"),
    ]),
  "Open orders by lateness, and what is still to come": views =>
    grouped(views.of("open_purchase_orders"), "currency_code", "lateness_bucket").map(rows => [
      code(rows[0]!["currency_code"]),
      text(rows[0]!["lateness_bucket"]),
      String(rows.length),
      sum(rows, "open_amount"),
    ]),
  "The most delayed orders": views =>
    views
      .of("open_purchase_orders")
      .filter(row => Number(row["days_late"]) > 0)
      .sort(
        (a, b) =>
          Number(b["days_late"]) - Number(a["days_late"]) || (String(a["po_number"]) < String(b["po_number"]) ? -1 : 1),
      )
      .slice(0, 15)
      .map(row => [
        number(row["days_late"]),
        text(row["po_number"]),
        label(row),
        text(row["delivery_site_name"]),
        text(row["po_date"]),
        text(row["expected_date"]),
        text(row["expected_date_basis"]),
        number(row["open_amount"]),
        code(row["currency_code"]),
        text(row["delivery_standing"]),
      ]),
  "Received and not invoiced": views =>
    grouped(views.of("received_not_invoiced"), "currency_code", "age_bucket").map(rows => [
      code(rows[0]!["currency_code"]),
      text(rows[0]!["age_bucket"]),
      String(rows.filter(row => row["not_invoiced_quantity"] !== null).length),
      sum(rows, "not_invoiced_amount"),
      String(rows.filter(row => row["unclear_quantity"] !== null).length),
      sum(rows, "unclear_amount"),
    ]),
  "Contracts by how far they are used": views =>
    views
      .of("contract_utilisation")
      .filter(row => row["utilisation_pct"] !== null && ["running", "not known"].includes(String(row["term"])))
      .map(row => [
        text(row["contract_number"] ?? `contract ${row["contract_id"]}`),
        label(row),
        number(row["utilisation_pct"]),
        number(row["elapsed_pct"]),
        number(row["spent_amount"]),
        number(row["limit_amount"]),
        code(row["currency_code"]),
        text(row["expiration_date"]),
        text(row["status"]),
      ]),
  "What falls due": views =>
    grouped(views.of("cash_requirements"), "currency_code", "payment_status", "settlement_state").flatMap(rows => {
      const weeks = (row: Row) => (row["weeks_ahead"] === null ? undefined : Number(row["weeks_ahead"]));
      const due = (fits: (row: Row) => boolean) => sum(rows.filter(fits), "due_amount");
      if (sum(rows, "invoice_count") === "0") return [];
      return [
        [
          code(rows[0]!["currency_code"]),
          text(rows[0]!["payment_status"]),
          text(rows[0]!["settlement_state"]),
          due(row => row["due_group"] === "overdue"),
          due(row => weeks(row) === 0),
          due(row => (weeks(row) ?? 0) >= 1 && (weeks(row) ?? 0) <= 4),
          due(row => (weeks(row) ?? 0) > 4),
          due(row => row["due_group"] === "no due date"),
          sum(rows, "discount_amount"),
        ],
      ];
    }),
};

export { BEFORE, FROM, TODAY, UNTIL };
