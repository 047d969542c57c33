import type { Section } from "../src/outputs/report/definition.ts";

const currency = { name: "currency_code", label: "Currency", format: "currency" } as const;

export const outlook: Section = {
  slug: "outlook",
  title: "What is to come",
  lead: "What invoices call for, what came in and isn't billed yet, and how far contracts are used.",
  blocks: [
    {
      title: "What falls due",
      note: "Invoice totals by the service's payment and settlement labels, whose values are not documented: leave out those that mean paid. Parts that are paid already are not given, so totals count whole.",
      empty: "There are no invoices.",
      fields: [
        currency,
        { name: "payment_status", label: "Payment status", format: "text" },
        { name: "settlement_state", label: "Settlement", format: "text" },
        { name: "overdue_amount", label: "Overdue", format: "money" },
        { name: "this_week_amount", label: "This week", format: "money" },
        { name: "four_weeks_amount", label: "The four weeks after", format: "money" },
        { name: "later_amount", label: "Later", format: "money" },
        { name: "undated_amount", label: "No due date", format: "money" },
        { name: "discount_amount", label: "Discounts to be had", format: "money" },
      ],
      sql: `
        select
          currency_code,
          payment_status,
          settlement_state,
          sum(case when due_group = 'overdue' then due_amount else 0 end) as overdue_amount,
          sum(case when weeks_ahead <= 0 then due_amount else 0 end) as this_week_amount,
          sum(case when weeks_ahead between 1 and 4 then due_amount else 0 end) as four_weeks_amount,
          sum(case when weeks_ahead > 4 then due_amount else 0 end) as later_amount,
          sum(case when due_group = 'no due date' then due_amount else 0 end) as undated_amount,
          coalesce(sum(discount_amount), 0) as discount_amount
        from procurement_analytics.cash_requirements
        where _company = :company
        group by currency_code, payment_status, settlement_state
        having sum(invoice_count) > 0
        order by currency_code nulls last, payment_status nulls last, settlement_state nulls last`,
    },
    {
      title: "Received and not invoiced",
      note: "Order lines at the ordered price, by the days since they came in. Lines that nothing says the billing of stand apart.",
      empty: "Everything that came in has been billed.",
      fields: [
        currency,
        { name: "age_bucket", label: "Came in", format: "text" },
        { name: "line_count", label: "Order lines", format: "count" },
        { name: "not_invoiced_amount", label: "Not invoiced", format: "money" },
        { name: "unclear_line_count", label: "Lines not known", format: "count" },
        { name: "unclear_amount", label: "Billing not known", format: "money" },
      ],
      drawing: { kind: "bars", label: "age_bucket", parts: ["not_invoiced_amount", "unclear_amount"] },
      sql: `
        select
          currency_code,
          age_bucket,
          count(not_invoiced_quantity) as line_count,
          coalesce(sum(not_invoiced_amount), 0) as not_invoiced_amount,
          count(unclear_quantity) as unclear_line_count,
          coalesce(sum(unclear_amount), 0) as unclear_amount
        from procurement_analytics.received_not_invoiced
        where _company = :company
        group by currency_code, age_bucket
        order by currency_code nulls last, case age_bucket
          when '0-30 days' then 1 when '31-60 days' then 2 when '61-90 days' then 3 when 'over 90 days' then 4 else 5 end`,
    },
    {
      title: "Contracts by how far they are used",
      note: "Contracts whose term is running or not known, by what was spent under them in percent of their limit, by the service's account.",
      empty: "No running contract has a limit.",
      most: 15,
      fields: [
        { name: "contract", label: "Contract", format: "text" },
        { name: "vendor", label: "Vendor", format: "text", isParty: true },
        { name: "utilisation_pct", label: "Used", format: "percent" },
        { name: "elapsed_pct", label: "Of its term passed", format: "percent" },
        { name: "spent_amount", label: "Spent", format: "money" },
        { name: "limit_amount", label: "Limit", format: "money" },
        currency,
        { name: "expiration_date", label: "Expires", format: "date" },
        { name: "status", label: "Status", format: "text" },
      ],
      drawing: { kind: "bars", label: "contract", parts: ["utilisation_pct"] },
      sql: `
        select
          coalesce(contract_number, 'contract ' || contract_id) as contract, coalesce(nullif(trim(vendor_name), ''), 'vendor ' || vendor_id) as vendor, utilisation_pct,
          elapsed_pct, spent_amount, limit_amount, currency_code, expiration_date, status
        from procurement_analytics.contract_utilisation
        where _company = :company and utilisation_pct is not null and term in ('running', 'not known')
        order by utilisation_pct desc, contract_id`,
    },
  ],
};
