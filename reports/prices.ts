import type { Block, Section } from "../src/outputs/report/definition.ts";

const currency = { name: "currency_code", label: "Currency", format: "currency" } as const;

/** The six items whose price moved most one way, month by month. */
const movers = (title: string, empty: string, way: "desc" | "asc"): Block => ({
  title,
  note: "From an item's first month with a price in the period to its latest, by the service's price history.",
  empty,
  fields: [
    { name: "item", label: "Item", format: "text" },
    { name: "item_id", label: "Item number", format: "text" },
    { name: "uom", label: "Unit", format: "text" },
    currency,
    { name: "month", label: "Month", format: "month" },
    { name: "average_price", label: "Average price", format: "price" },
    { name: "change_pct", label: "Change over the period", format: "percent" },
  ],
  drawing: { kind: "lines", panel: "item", value: "average_price", unit: "uom" },
  sql: `
    with months as (
      select item_id, item_description, uom, currency_code, currency_source, month, average_price
      from procurement_analytics.item_price_trend
      where _company = :company and month >= :from and month <= :today and average_price > 0
    ),
    ends as (
      select item_id, currency_code, currency_source, min(month) as first_month, max(month) as last_month
      from months
      group by item_id, currency_code, currency_source
      having count(*) > 1
    ),
    moved as (
      select
        ends.*,
        round(
          cast(
            100 * cast(latest.average_price - earliest.average_price as double precision)
              / cast(earliest.average_price as double precision)
            as decimal(38, 9)
          ),
          4
        ) as change_pct
      from ends
      join months earliest
        on earliest.item_id = ends.item_id
        and earliest.currency_code is not distinct from ends.currency_code
        and earliest.currency_source = ends.currency_source
        and earliest.month = ends.first_month
      join months latest
        on latest.item_id = ends.item_id
        and latest.currency_code is not distinct from ends.currency_code
        and latest.currency_source = ends.currency_source
        and latest.month = ends.last_month
    ),
    ranked as (
      select moved.*, row_number() over (order by change_pct ${way}, item_id, currency_code nulls last, currency_source) as place
      from moved
      where ${way === "desc" ? "change_pct > 0" : "change_pct < 0"}
    )
    select
      coalesce(nullif(trim(months.item_description), ''), 'item ' || months.item_id) as item, months.item_id, months.uom, months.currency_code,
      months.month, months.average_price, ranked.change_pct
    from ranked
    join months
      on months.item_id = ranked.item_id
      and months.currency_code is not distinct from ranked.currency_code
      and months.currency_source = ranked.currency_source
    where ranked.place <= 6
    order by ranked.place, months.month`,
});

/** Parts whose last purchases cost more, or less, than the ones before, the five that make most of each currency. */
const repeats = (title: string, empty: string, way: "desc" | "asc"): Block => ({
  title,
  note: "Invoice lines against the price of the latest earlier date, by part number, vendor and unit: the five that make most of each currency.",
  empty,
  fields: [
    currency,
    { name: "item", label: "Part", format: "text" },
    { name: "description", label: "Description", format: "text" },
    { name: "vendor", label: "Vendor", format: "text", isParty: true },
    { name: "uom", label: "Unit", format: "text" },
    { name: "earlier_lines", label: "Compared lines", format: "count" },
    { name: "lowest_price", label: "Lowest price", format: "price" },
    { name: "highest_price", label: "Highest price", format: "price" },
    { name: "earlier_variance_pct", label: "Difference", format: "percent" },
    { name: "earlier_variance_amount", label: "Makes", format: "money" },
  ],
  drawing: { kind: "bars", label: "label", parts: ["earlier_variance_amount"] },
  sql: `
    with ranked as (
      select
        variance.*,
        row_number() over (
          partition by currency_code
          order by earlier_variance_amount ${way}, item_kind, item nulls last, vendor_id nulls last, uom nulls last,
            currency_source
        ) as place
      from procurement_analytics.price_variance variance
      where _company = :company and source_table = 'invoice_line_items'
        and ${way === "desc" ? "earlier_variance_amount > 0" : "earlier_variance_amount < 0"}
    )
    select
      currency_code, item, item_description as description, coalesce(nullif(trim(vendor_name), ''), 'vendor ' || vendor_id) as vendor, uom, earlier_lines,
      lowest_price, highest_price, earlier_variance_pct, earlier_variance_amount,
      coalesce(item_description, item) as label
    from ranked
    where place <= 5
    order by currency_code nulls last, place`,
});

export const prices: Section = {
  slug: "prices",
  title: "Price trends",
  lead: "How prices of items moved, and what was paid for the same part compared with the time before and with the order. Prices are compared only within one currency and unit.",
  blocks: [
    movers("Items whose price rose most", "No item's price rose in the period.", "desc"),
    movers("Items whose price fell most", "No item's price fell in the period.", "asc"),
    repeats("Dearer than the time before", "Nothing cost more than the time before.", "desc"),
    repeats("Cheaper than the time before", "Nothing cost less than the time before.", "asc"),
    {
      title: "Paid above the order's prices, by vendor",
      note: "Above 0 more was paid than ordered at, below 0 less: the five vendors that make most of each currency.",
      empty: "No invoice line can be compared with its order's price.",
      fields: [
        currency,
        { name: "vendor", label: "Vendor", format: "text", isParty: true },
        { name: "order_lines", label: "Compared lines", format: "count" },
        { name: "order_variance_amount", label: "Paid above the order", format: "money" },
      ],
      drawing: { kind: "bars", label: "vendor", parts: ["order_variance_amount"] },
      sql: `
        with vendors as (
          select
            currency_code,
            vendor_id,
            max(vendor_name) as vendor_name,
            cast(sum(order_lines) as bigint) as order_lines,
            sum(order_variance_amount) as order_variance_amount
          from procurement_analytics.price_variance
          where _company = :company and source_table = 'invoice_line_items' and order_lines > 0
          group by currency_code, vendor_id
        ),
        ranked as (
          select
            vendors.*,
            row_number() over (
              partition by currency_code order by order_variance_amount desc nulls last, vendor_id nulls last
            ) as place
          from vendors
          where order_variance_amount <> 0
        )
        select currency_code, coalesce(nullif(trim(vendor_name), ''), 'vendor ' || vendor_id) as vendor, order_lines, order_variance_amount
        from ranked
        where place <= 5
        order by currency_code nulls last, place`,
    },
  ],
};
