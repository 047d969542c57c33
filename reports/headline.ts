import type { Figure } from "../src/outputs/report/definition.ts";

export const headline: readonly Figure[] = [
  {
    label: "Spend",
    note: "invoiced in the period, credits left out",
    readBy: ["credit"],
    kind: "money",
    things: "invoices",
    sql: `
      select
        currency_code,
        sum(case when month >= :from then spend_amount else 0 end) as value,
        cast(sum(case when month >= :from then invoice_count else 0 end) as bigint) as count,
        nullif(sum(case when month < :from then spend_amount else 0 end), 0) as before
      from procurement_analytics.spend_by_vendor_month
      where _company = :company and month >= :before and month < :until
      group by currency_code`,
  },
  {
    label: "Open orders",
    note: "and what is still to come of them",
    readBy: ["open"],
    kind: "count",
    sql: `
      select currency_code, count(*) as value, sum(open_amount) as amount
      from procurement_analytics.open_purchase_orders
      where _company = :company
      group by currency_code`,
  },
  {
    label: "Late orders",
    note: "past the day they are expected on, and what is still to come of them",
    kind: "count",
    sql: `
      select
        currency_code,
        count(case when days_late > 0 then 1 end) as value,
        count(*) as of_all,
        sum(case when days_late > 0 then open_amount else 0 end) as amount
      from procurement_analytics.open_purchase_orders
      where _company = :company
      group by currency_code`,
  },
  {
    label: "Order lines on time",
    note: "of those the service has judged",
    readBy: ["late"],
    kind: "share",
    sql: `
      select cast(sum(on_time_line_count) as bigint) as value, cast(sum(judged_line_count) as bigint) as of_all
      from procurement_analytics.vendor_scorecard
      where _company = :company and is_main
      having sum(judged_line_count) > 0`,
  },
  {
    label: "Invoices with exceptions",
    note: "and their totals, whatever their status",
    kind: "count",
    sql: `
      with every as (
        select sum(invoice_count) as invoices from procurement_analytics.vendor_scorecard where _company = :company and is_main
      )
      select
        currency_code, count(*) as value, sum(invoice_amount) as amount,
        case when row_number() over (order by currency_code) = 1 then (select cast(invoices as bigint) from every) end as of_all
      from procurement_analytics.invoice_exceptions
      where _company = :company and exception_number = 1
      group by currency_code`,
  },
  {
    label: "Savings found",
    note: "by findings made in the period",
    kind: "money",
    things: "findings",
    sql: `
      select
        currency_code,
        coalesce(sum(case when created_date >= :from then savings_amount end), 0) as value,
        count(case when created_date >= :from then savings_amount end) as count,
        nullif(sum(case when created_date < :from then savings_amount else 0 end), 0) as before
      from procurement_analytics.findings_value
      where _company = :company and created_date >= :before and created_date < :until
      group by currency_code`,
  },
  {
    label: "Savings still to be had",
    note: "of all findings that are open",
    readBy: ["dismissed", "resolved"],
    kind: "money",
    things: "findings",
    sql: `
      select
        currency_code, coalesce(sum(recoverable_amount), 0) as value, count(case when recoverable_amount > 0 then 1 end) as count
      from procurement_analytics.findings_value
      where _company = :company
      group by currency_code`,
  },
  {
    label: "Savings resolved",
    note: "of all findings that were resolved",
    readBy: ["resolved"],
    kind: "money",
    things: "findings",
    sql: `
      select
        currency_code, coalesce(sum(resolved_amount), 0) as value, count(case when resolved_amount > 0 then 1 end) as count
      from procurement_analytics.findings_value
      where _company = :company
      group by currency_code`,
  },
];
