import type { Section } from "../src/outputs/report/definition.ts";

const currency = { name: "currency_code", label: "Currency", format: "currency" } as const;
export const spend: Section = {
  slug: "spend",
  title: "Spend",
  lead: "What vendors invoiced, tax and shipping included, by the date on the invoice. Invoices of every status count, because the service doesn't document its statuses; credits are left out.",
  blocks: [
    {
      title: "Spend by month",
      note: "The month that is under way is drawn as an outline and belongs to no sum of the period. A mark shows the same month a year earlier.",
      empty: "No invoice is dated in these months.",
      fields: [
        currency,
        { name: "month", label: "Month", format: "month" },
        { name: "invoice_count", label: "Invoices", format: "count" },
        { name: "spend_amount", label: "Spend", format: "money" },
        { name: "year_before_amount", label: "A year earlier", format: "money" },
      ],
      drawing: {
        kind: "months",
        value: "spend_amount",
        mark: "year_before_amount",
        markNote: "the same month a year earlier",
      },
      sql: `
        select
          currency_code,
          month,
          cast(sum(invoice_count) as bigint) as invoice_count,
          coalesce(sum(spend_amount), 0) as spend_amount,
          sum(year_before_amount) as year_before_amount
        from (
          select currency_code, month, invoice_count, spend_amount, cast(null as decimal(38, 9)) as year_before_amount
          from procurement_analytics.spend_by_vendor_month
          where _company = :company and month >= :from and month <= :today
          union all
          select currency_code, cast(month + interval '12 months' as date), 0, null, spend_amount
          from procurement_analytics.spend_by_vendor_month
          where _company = :company
            and month >= cast(:from - interval '12 months' as date)
            and month < cast(:until - interval '12 months' as date)
        ) months
        group by currency_code, month
        order by currency_code nulls last, month`,
    },
    {
      title: "Spend by vendor",
      note: "The fifteen vendors with the highest spend of the period in each currency; all others together.",
      empty: "No invoice is dated in the period.",
      fields: [
        currency,
        { name: "vendor", label: "Vendor", format: "text", isParty: true },
        { name: "invoice_count", label: "Invoices", format: "count" },
        { name: "spend_amount", label: "Spend", format: "money" },
        { name: "share", label: "Share", format: "share", of: "spend_amount" },
        { name: "before_amount", label: "The period before", format: "money" },
      ],
      drawing: { kind: "bars", label: "vendor", parts: ["spend_amount"], rest: "others" },
      sql: `
        with vendors as (
          select
            currency_code,
            vendor_id,
            max(vendor_name) as vendor_name,
            cast(sum(case when month >= :from then invoice_count else 0 end) as bigint) as invoice_count,
            sum(case when month >= :from then spend_amount else 0 end) as spend_amount,
            sum(case when month < :from then spend_amount else 0 end) as before_amount
          from procurement_analytics.spend_by_vendor_month
          where _company = :company and month >= :before and month < :until
          group by currency_code, vendor_id
        ),
        ranked as (
          select *, row_number() over (partition by currency_code order by spend_amount desc, vendor_id nulls last) as place
          from vendors
          where invoice_count > 0
        )
        select
          currency_code,
          case
            when min(place) > 15 then 'All ' || cast(count(*) as varchar) || ' others'
            else max(coalesce(nullif(trim(vendor_name), ''), 'vendor ' || vendor_id))
          end as vendor,
          cast(sum(invoice_count) as bigint) as invoice_count,
          sum(spend_amount) as spend_amount,
          sum(before_amount) as before_amount,
          min(place) > 15 as others
        from ranked
        group by currency_code, case when place > 15 then 16 else place end
        order by currency_code nulls last, min(place)`,
    },
    {
      title: "What stands beside the spend",
      note: "Credits are no spend, nor are documents of which nothing says whether they are credits; their amounts bear the sign that the service gives them. Both, and invoices without an amount, are those of the period.",
      empty: "There are no credits, no invoices without a date or an amount, and none dated ahead.",
      fields: [
        currency,
        { name: "credit_count", label: "Credits", format: "count" },
        { name: "credit_amount", label: "Their amount", format: "money" },
        { name: "unclear_count", label: "Credit or not is unknown", format: "count" },
        { name: "unclear_amount", label: "Their amount", format: "money" },
        { name: "undated_count", label: "Without a date", format: "count" },
        { name: "undated_amount", label: "Their amount", format: "money" },
        { name: "later_count", label: "Dated after this month", format: "count" },
        { name: "later_amount", label: "Their amount", format: "money" },
        { name: "without_amount_count", label: "Without an amount", format: "count" },
      ],
      sql: `
        select * from (
          select
            currency_code,
            cast(sum(case when month >= :from and month < :until then credit_count else 0 end) as bigint) as credit_count,
            sum(case when month >= :from and month < :until then credit_amount else 0 end) as credit_amount,
            cast(sum(case when month >= :from and month < :until then unclear_count else 0 end) as bigint) as unclear_count,
            sum(case when month >= :from and month < :until then unclear_amount else 0 end) as unclear_amount,
            cast(sum(case when month is null then invoice_count else 0 end) as bigint) as undated_count,
            sum(case when month is null then spend_amount else 0 end) as undated_amount,
            cast(sum(case when month > :today then invoice_count else 0 end) as bigint) as later_count,
            sum(case when month > :today then spend_amount else 0 end) as later_amount,
            cast(sum(case when month >= :from and month < :until then without_amount_count else 0 end) as bigint)
              as without_amount_count
          from procurement_analytics.spend_by_vendor_month
          where _company = :company
          group by currency_code
        ) beside
        where credit_count + unclear_count + undated_count + later_count + without_amount_count > 0
        order by currency_code nulls last`,
    },
    {
      title: "How the currencies are known",
      note: "row: on the invoice itself; order: on the purchase order it was matched with; feed: on its document in the intake feed; list: beside the service's list; company: the company's base currency, an assumption.",
      empty: "No invoice is dated in the period.",
      fields: [
        currency,
        { name: "currency_source", label: "Known by", format: "text" },
        { name: "invoice_count", label: "Invoices", format: "count" },
        { name: "spend_amount", label: "Spend", format: "money" },
        { name: "share", label: "Share", format: "share", of: "spend_amount" },
      ],
      sql: `
        select
          currency_code,
          currency_source,
          cast(sum(invoice_count) as bigint) as invoice_count,
          sum(spend_amount) as spend_amount
        from procurement_analytics.spend_by_vendor_month
        where _company = :company and month >= :from and month < :until
        group by currency_code, currency_source
        having sum(invoice_count) > 0
        order by currency_code nulls last, sum(invoice_count) desc, currency_source`,
    },
  ],
};
