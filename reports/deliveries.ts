import type { Section } from "../src/outputs/report/definition.ts";

const currency = { name: "currency_code", label: "Currency", format: "currency" } as const;
const byLateness = `case lateness_bucket
  when 'not late' then 1 when '1-7 days' then 2 when '8-30 days' then 3 when '31-90 days' then 4
  when 'over 90 days' then 5 else 6 end`;

export const deliveries: Section = {
  slug: "deliveries",
  title: "Late deliveries",
  lead: "Purchase orders that the service counts as open, by how many days the day they are expected on has passed: the next expected delivery, else the day the vendor promised, else the day the buyer asked for.",
  blocks: [
    {
      title: "Open orders by lateness, and what is still to come",
      note: "At the ordered prices; where no line tells, the value of the whole order.",
      empty: "No purchase order is open.",
      fields: [
        currency,
        { name: "lateness_bucket", label: "Late by", format: "text" },
        { name: "order_count", label: "Orders", format: "count" },
        { name: "open_amount", label: "Still to come", format: "money" },
      ],
      drawing: { kind: "bars", label: "lateness_bucket", parts: ["open_amount"] },
      sql: `
        select currency_code, lateness_bucket, count(*) as order_count, coalesce(sum(open_amount), 0) as open_amount
        from procurement_analytics.open_purchase_orders
        where _company = :company
        group by currency_code, lateness_bucket
        order by currency_code nulls last, ${byLateness}`,
    },
    {
      title: "The most delayed orders",
      empty: "No open order is late.",
      most: 15,
      fields: [
        { name: "days_late", label: "Days late", format: "count" },
        { name: "po_number", label: "Order", format: "text" },
        { name: "vendor", label: "Vendor", format: "text", isParty: true },
        { name: "delivery_site_name", label: "Site", format: "text" },
        { name: "po_date", label: "Ordered", format: "date" },
        { name: "expected_date", label: "Expected", format: "date" },
        { name: "expected_date_basis", label: "By", format: "text" },
        { name: "open_amount", label: "Still to come", format: "money" },
        currency,
        { name: "delivery_standing", label: "Delivery standing", format: "text" },
      ],
      sql: `
        select
          days_late, po_number, coalesce(nullif(trim(vendor_name), ''), 'vendor ' || vendor_id) as vendor, delivery_site_name, po_date, expected_date,
          expected_date_basis, open_amount, currency_code, delivery_standing
        from procurement_analytics.open_purchase_orders
        where _company = :company and days_late > 0
        order by days_late desc, po_number`,
    },
    {
      title: "Vendors on time",
      note: "Order lines that came on time, of those the service has judged: the fifteen vendors with most judged lines, the least reliable first.",
      empty: "The service has judged no order line by time.",
      fields: [
        { name: "vendor", label: "Vendor", format: "text", isParty: true },
        { name: "on_time_share", label: "On time", format: "share" },
        { name: "judged_line_count", label: "Judged lines", format: "count" },
        { name: "in_full_share", label: "In full", format: "share" },
        { name: "average_days_late", label: "Days late on average", format: "price" },
        { name: "open_order_count", label: "Open orders", format: "count" },
        { name: "late_order_count", label: "Late orders", format: "count" },
        { name: "exception_share", label: "Invoices with exceptions", format: "share" },
      ],
      drawing: { kind: "bars", label: "vendor", parts: ["on_time_share"] },
      sql: `
        with ranked as (
          select
            scorecard.*,
            row_number() over (order by judged_line_count desc, vendor_id nulls last) as place
          from procurement_analytics.vendor_scorecard scorecard
          where _company = :company and is_main and judged_line_count > 0
        )
        select
          coalesce(nullif(trim(vendor_name), ''), 'vendor ' || vendor_id) as vendor, on_time_share, judged_line_count, in_full_share, average_days_late,
          open_order_count, late_order_count, exception_share
        from ranked
        where place <= 15
        order by on_time_share, judged_line_count desc, vendor_id nulls last`,
    },
  ],
};
