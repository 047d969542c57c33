import type { Section } from "../src/outputs/report/definition.ts";

const currency = { name: "currency_code", label: "Currency", format: "currency" } as const;
const byAge = `case age_bucket
  when '0-30 days' then 1 when '31-60 days' then 2 when '61-90 days' then 3 when 'over 90 days' then 4 else 5 end`;

export const savings: Section = {
  slug: "savings",
  title: "Savings found",
  lead: "What findings are worth and what became of it. What can still be had are the savings of open findings; those of resolved ones were had. Findings that the service no longer lists count too.",
  blocks: [
    {
      title: "Savings by category",
      note: "Solid: can still be had. Outlined: of resolved findings.",
      empty: "There are no findings.",
      fields: [
        currency,
        { name: "category", label: "Category", format: "text" },
        { name: "finding_count", label: "Findings", format: "count" },
        { name: "open_count", label: "Open", format: "count" },
        { name: "recoverable_amount", label: "Can still be had", format: "money" },
        { name: "resolved_amount", label: "Resolved", format: "money" },
      ],
      drawing: { kind: "bars", label: "category", parts: ["recoverable_amount", "resolved_amount"] },
      sql: `
        select
          currency_code,
          category,
          count(*) as finding_count,
          count(case when outcome = 'open' then 1 end) as open_count,
          coalesce(sum(recoverable_amount), 0) as recoverable_amount,
          coalesce(sum(resolved_amount), 0) as resolved_amount
        from procurement_analytics.findings_value
        where _company = :company
        group by currency_code, category
        order by currency_code nulls last, coalesce(sum(recoverable_amount), 0) desc, category nulls last`,
    },
    {
      title: "What became of findings",
      empty: "There are no findings.",
      fields: [
        currency,
        { name: "outcome", label: "Outcome", format: "text" },
        { name: "finding_count", label: "Findings", format: "count" },
        { name: "without_count", label: "Without savings put to them", format: "count" },
        { name: "savings_amount", label: "Savings", format: "money" },
        { name: "share", label: "Share", format: "share", of: "savings_amount" },
      ],
      drawing: { kind: "bars", label: "outcome", parts: ["savings_amount"] },
      sql: `
        select
          currency_code,
          outcome,
          count(*) as finding_count,
          count(case when savings_amount is null then 1 end) as without_count,
          coalesce(sum(savings_amount), 0) as savings_amount
        from procurement_analytics.findings_value
        where _company = :company
        group by currency_code, outcome
        order by currency_code nulls last, coalesce(sum(savings_amount), 0) desc, outcome`,
    },
    {
      title: "Age of what can still be had",
      note: "Open findings by the days since the service made them.",
      empty: "No finding is open.",
      fields: [
        currency,
        { name: "age_bucket", label: "Age", format: "text" },
        { name: "finding_count", label: "Open findings", format: "count" },
        { name: "recoverable_amount", label: "Can still be had", format: "money" },
      ],
      drawing: { kind: "bars", label: "age_bucket", parts: ["recoverable_amount"] },
      sql: `
        select
          currency_code, age_bucket, count(*) as finding_count, coalesce(sum(recoverable_amount), 0) as recoverable_amount
        from procurement_analytics.findings_value
        where _company = :company and outcome = 'open'
        group by currency_code, age_bucket
        order by currency_code nulls last, ${byAge}`,
    },
    {
      title: "Savings found by month",
      note: "By the day on which the service made the finding, whatever became of it since. The month that is under way is drawn as an outline.",
      empty: "No finding was made in these months.",
      fields: [
        currency,
        { name: "month", label: "Month", format: "month" },
        { name: "finding_count", label: "Findings", format: "count" },
        { name: "savings_amount", label: "Savings found", format: "money" },
      ],
      drawing: { kind: "months", value: "savings_amount" },
      sql: `
        select
          currency_code,
          cast(date_trunc('month', created_date) as date) as month,
          count(*) as finding_count,
          coalesce(sum(savings_amount), 0) as savings_amount
        from procurement_analytics.findings_value
        where _company = :company and created_date >= :from and created_date <= :today
        group by currency_code, cast(date_trunc('month', created_date) as date)
        order by currency_code nulls last, cast(date_trunc('month', created_date) as date)`,
    },
    {
      title: "The largest open findings",
      empty: "No finding is open.",
      most: 12,
      fields: [
        currency,
        { name: "recoverable_amount", label: "Can still be had", format: "money" },
        { name: "title", label: "Finding", format: "text" },
        { name: "vendor", label: "Vendor", format: "text", isParty: true },
        { name: "category", label: "Category", format: "text" },
        { name: "created_date", label: "Made on", format: "date" },
        { name: "days_open", label: "Days open", format: "count" },
        { name: "waiting_on", label: "Whose move", format: "text" },
        { name: "status", label: "Status", format: "text" },
      ],
      sql: `
        select
          currency_code, recoverable_amount, title, coalesce(nullif(trim(vendor_name), ''), 'vendor ' || vendor_id) as vendor, category, created_date,
          days_open, waiting_on, status
        from procurement_analytics.findings_value
        where _company = :company and outcome = 'open' and recoverable_amount > 0
        order by recoverable_amount desc, finding_item_id`,
    },
  ],
};
