import type { Message } from "../src/outputs/report/definition.ts";

/** What a vendor is called. */
const vendor = "coalesce(nullif(trim(vendor_name), ''), 'vendor ' || vendor_id, 'no vendor')";

/**
 * Adds up what rows put at stake, by currency. `rows`: a select of `currency_code`, `subject`, `amount` (0 where nothing is), `meant` and
 * `every` (how many things the row stands for that are at stake, and that there are), `dated` (a day, or null). `recent`: the column
 * whose sums the last two months are compared by.
 */
const stakes = (rows: string, recent = "amount"): string => `
  with at_stake as (${rows}),
  subjects as (
    select
      currency_code, subject, sum(amount) as amount,
      row_number() over (partition by currency_code order by sum(amount) desc, subject) as place
    from at_stake
    where amount > 0
    group by currency_code, subject
  )
  select
    at_stake.currency_code,
    sum(at_stake.amount) as amount,
    cast(sum(meant) as bigint) as value,
    cast(sum(every) as bigint) as of_all,
    sum(case when dated >= :month and dated < :until then at_stake.${recent} else 0 end) as latest,
    sum(case when dated >= :month_before and dated < :month then at_stake.${recent} else 0 end) as previous,
    max(subjects.subject) as subject,
    max(subjects.amount) as subject_amount
  from at_stake
  left join subjects on place = 1 and subjects.currency_code is not distinct from at_stake.currency_code
  group by at_stake.currency_code`;

export const opening: Message = {
  title: "Spend of the month",
  sentence: "{amount} was spent in {month}, by {value} invoices; the most with {subject}, {subject_amount}.",
  dated: "in",
  rise: "bad",
  section: "spend",
  readBy: ["credit"],
  needs: ["spend_by_vendor_month"],
  sql: stakes(
    `
    select
      currency_code, ${vendor} as subject, month as dated, spend_amount,
      case when month >= :month then spend_amount else 0 end as amount,
      case when month >= :month then invoice_count else 0 end as meant,
      case when month >= :month then invoice_count else 0 end as every
    from procurement_analytics.spend_by_vendor_month
    where _company = :company and month >= :month_before and month < :until`,
    "spend_amount",
  ),
};

/** What a buyer can do something about. Each counts what is so today, and of that what the last two months brought. */
export const messages: readonly Message[] = [
  {
    title: "Claim what open findings are worth",
    sentence:
      "{amount} can still be had from {value} of {of_all} findings that are open and say how much; the most from {subject}, {subject_amount}.",
    dated: "from findings made in",
    rise: "bad",
    section: "savings",
    readBy: ["dismissed", "resolved"],
    needs: ["findings_value"],
    sql: stakes(`
      select
        currency_code, ${vendor} as subject, created_date as dated, coalesce(recoverable_amount, 0) as amount,
        case when recoverable_amount > 0 then 1 else 0 end as meant, 1 as every
      from procurement_analytics.findings_value
      where _company = :company`),
  },
  {
    title: "Resolved findings have paid",
    sentence:
      "{amount} was had from {value} of {of_all} findings, by what they say; the most from {subject}, {subject_amount}.",
    dated: "from findings resolved in",
    rise: "good",
    section: "savings",
    readBy: ["resolved"],
    needs: ["findings_value"],
    sql: stakes(`
      select
        currency_code, ${vendor} as subject, closed_date as dated, coalesce(resolved_amount, 0) as amount,
        case when resolved_amount > 0 then 1 else 0 end as meant, 1 as every
      from procurement_analytics.findings_value
      where _company = :company`),
  },
  {
    title: "Chase late deliveries",
    sentence:
      "{amount} is still to come of {value} of {of_all} open orders that are past the day they were expected on; the most from {subject}, {subject_amount}.",
    dated: "of orders expected in",
    rise: "bad",
    section: "deliveries",
    readBy: ["open"],
    needs: ["open_purchase_orders"],
    sql: stakes(`
      select
        currency_code, ${vendor} as subject, expected_date as dated,
        case when days_late > 0 then coalesce(open_amount, 0) else 0 end as amount,
        case when days_late > 0 then 1 else 0 end as meant, 1 as every
      from procurement_analytics.open_purchase_orders
      where _company = :company`),
  },
  {
    title: "Question prices above the order's",
    sentence:
      "{amount} is billed above the ordered price, on {value} of {of_all} invoice lines; the most by {subject}, {subject_amount}.",
    dated: "on invoices of",
    rise: "bad",
    section: "exceptions",
    needs: ["three_way_match"],
    sql: stakes(`
      select
        currency_code, ${vendor} as subject, document_date as dated,
        case when price_effect_amount > 0 then price_effect_amount else 0 end as amount,
        case when price_effect_amount > 0 then 1 else 0 end as meant, 1 as every
      from procurement_analytics.three_way_match
      where _company = :company`),
  },
  {
    title: "Hold back what is billed and not received",
    sentence:
      "{amount} is billed for goods that no receipt shows, on {value} of {of_all} invoice lines; the most by {subject}, {subject_amount}.",
    dated: "on invoices of",
    rise: "bad",
    section: "exceptions",
    needs: ["three_way_match"],
    sql: stakes(`
      select
        currency_code, ${vendor} as subject, document_date as dated, coalesce(not_received_amount, 0) as amount,
        case when not_received_amount > 0 then 1 else 0 end as meant, 1 as every
      from procurement_analytics.three_way_match
      where _company = :company`),
  },
  {
    title: "Look at invoices that resemble others",
    sentence:
      "{amount} would be paid twice if {value} of {of_all} invoices that look alike are the same; the most to {subject}, {subject_amount}.",
    dated: "on invoices of",
    rise: "bad",
    section: "exceptions",
    readBy: ["credit"],
    needs: ["duplicate_invoices"],
    sql: stakes(`
      select
        currency_code, ${vendor} as subject, document_date as dated, coalesce(at_stake_amount, 0) as amount,
        case when at_stake_amount > 0 then 1 else 0 end as meant, 1 as every
      from procurement_analytics.duplicate_invoices
      where _company = :company`),
  },
  {
    title: "Look at what is past due",
    sentence:
      "{amount} was due before today, on {value} of {of_all} invoices that aren't known to be paid; the most to {subject}, {subject_amount}.",
    rise: "bad",
    section: "outlook",
    readBy: ["paid", "credit"],
    needs: ["payables_ageing"],
    sql: stakes(`
      select
        currency_code, ${vendor} as subject, cast(null as date) as dated,
        case when bucket_number between 2 and 5 then open_amount else 0 end as amount,
        case when bucket_number between 2 and 5 then invoice_count else 0 end as meant, invoice_count as every
      from procurement_analytics.payables_ageing
      where _company = :company`),
  },
  {
    title: "Set aside what came in without a bill",
    sentence:
      "{amount} was received and not invoiced yet, on {value} of {of_all} order lines that wait for a bill; the most from {subject}, {subject_amount}.",
    dated: "that came in in",
    rise: "bad",
    section: "outlook",
    needs: ["received_not_invoiced"],
    sql: stakes(`
      select
        currency_code, ${vendor} as subject, delivered_date as dated, coalesce(not_invoiced_amount, 0) as amount,
        case when not_invoiced_amount > 0 then 1 else 0 end as meant, 1 as every
      from procurement_analytics.received_not_invoiced
      where _company = :company`),
  },
  {
    title: "Take discounts while they last",
    sentence:
      "{amount} of discounts can still be taken, on {value} of {of_all} invoices; the most from {subject}, {subject_amount}.",
    dated: "on invoices of",
    rise: "good",
    section: "outlook",
    readBy: ["paid"],
    needs: ["discounts"],
    sql: stakes(`
      select
        currency_code, ${vendor} as subject, month as dated,
        case when standing = 'to be had' then coalesce(capturable_amount, 0) else 0 end as amount,
        case when standing = 'to be had' then invoice_count else 0 end as meant, invoice_count as every
      from procurement_analytics.discounts
      where _company = :company`),
  },
  {
    title: "Negotiate prices that rose",
    sentence:
      "{amount} more was paid than at the price of the time before, on {value} of {of_all} invoice lines that have one; the most for {subject}, {subject_amount}.",
    rise: "bad",
    section: "prices",
    needs: ["price_variance"],
    sql: stakes(`
      select
        currency_code, coalesce(nullif(trim(item_description), ''), item, 'items without a description') as subject, cast(null as date) as dated,
        case when earlier_variance_amount > 0 then earlier_variance_amount else 0 end as amount,
        case when earlier_variance_amount > 0 then earlier_lines else 0 end as meant, earlier_lines as every
      from procurement_analytics.price_variance
      where _company = :company and source_table = 'invoice_line_items'`),
  },
];
