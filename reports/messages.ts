import type { Message } from "../src/outputs/report/definition.ts";

const vendor = "coalesce(nullif(trim(vendor_name), ''), 'vendor ' || vendor_id, 'no vendor')";

interface Stake {
  readonly model: string;
  /** Who or what it is about. */
  readonly subject?: string;
  /** What is at stake by a row; nothing where it isn't above 0. */
  readonly amount: string;
  /** How many things a row stands for that are at stake, and that there are. */
  readonly meant?: string;
  readonly every?: string;
  /** The day that a row belongs to. */
  readonly dated?: string;
  /** What the last two months are compared by. */
  readonly recent?: string;
  readonly where?: string;
}

/** Adds up what a model's rows put at stake, by currency. */
function stakes({ model, amount, dated, where, ...more }: Stake): string {
  const { subject = vendor, meant = `case when ${amount} > 0 then 1 else 0 end`, every = "1", recent = amount } = more;
  return `
  with at_stake as (
    select
      currency_code, ${subject} as subject, ${dated ?? "cast(null as date)"} as dated,
      case when ${amount} > 0 then ${amount} else 0 end as amount,
      case when ${recent} > 0 then ${recent} else 0 end as recent,
      ${meant} as meant, ${every} as every
    from procurement_analytics.${model}
    where _company = :company${where === undefined ? "" : ` and ${where}`}
  ),
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
    sum(case when dated >= :month and dated < :until then recent else 0 end) as latest,
    sum(case when dated >= :month_before and dated < :month then recent else 0 end) as previous,
    max(subjects.subject) as subject,
    max(subjects.amount) as subject_amount
  from at_stake
  left join subjects on place = 1 and subjects.currency_code is not distinct from at_stake.currency_code
  group by at_stake.currency_code`;
}

const ofMonth = (column: string): string => `case when month >= :month then ${column} else 0 end`;

export const opening: Message = {
  title: "Spend of the month",
  sentence: "{amount} was spent in {month}, by {value} {currency} invoices; the most with {subject}, {subject_amount}.",
  dated: "in",
  rise: "bad",
  section: "spend",
  readBy: ["credit"],
  sql: stakes({
    model: "spend_by_vendor_month",
    ...{ amount: ofMonth("spend_amount"), meant: ofMonth("invoice_count"), every: ofMonth("invoice_count") },
    ...{ dated: "month", recent: "spend_amount", where: "month >= :month_before and month < :until" },
  }),
};

/** What a buyer can do something about. Each counts what is so today, and of that what the last two months brought. */
export const messages: readonly Message[] = [
  {
    title: "Claim what open findings are worth",
    sentence:
      "{amount} can still be had from {value} of {of_all} findings, those that are open and say how much; the most from {subject}, {subject_amount}.",
    dated: "from findings made in",
    section: "savings",
    readBy: ["dismissed", "resolved"],
    sql: stakes({ model: "findings_value", amount: "recoverable_amount", dated: "created_date" }),
  },
  {
    title: "Resolved findings have paid",
    sentence:
      "{amount} came back through {value} of {of_all} findings, those that were resolved; the most from {subject}, {subject_amount}.",
    dated: "from findings resolved in",
    rise: "good",
    section: "savings",
    readBy: ["resolved"],
    sql: stakes({ model: "findings_value", amount: "resolved_amount", dated: "closed_date" }),
  },
  {
    title: "Chase late deliveries",
    sentence:
      "{amount} is still to come of {value} of {of_all} open {currency} orders that are past the day they were expected on; the most from {subject}, {subject_amount}.",
    dated: "of orders expected in",
    rise: "bad",
    section: "deliveries",
    readBy: ["open"],
    sql: stakes({
      model: "open_purchase_orders",
      amount: "case when days_late > 0 then open_amount end",
      meant: "case when days_late > 0 then 1 else 0 end",
      dated: "expected_date",
    }),
  },
  {
    title: "Question prices above the order's",
    sentence:
      "{amount} is billed above the ordered price, on {value} of {of_all} invoice lines; the most by {subject}, {subject_amount}.",
    dated: "on invoices of",
    rise: "bad",
    section: "exceptions",
    sql: stakes({ model: "three_way_match", amount: "price_effect_amount", dated: "document_date" }),
  },
  {
    title: "Hold back what is billed and not received",
    sentence:
      "{amount} is billed for goods that no receipt shows, on {value} of {of_all} invoice lines; the most by {subject}, {subject_amount}.",
    dated: "on invoices of",
    rise: "bad",
    section: "exceptions",
    sql: stakes({ model: "three_way_match", amount: "not_received_amount", dated: "document_date" }),
  },
  {
    title: "Look at invoices that resemble others",
    sentence:
      "{amount} would be paid twice if {value} of {of_all} {currency} invoices that look alike are the same; the most to {subject}, {subject_amount}.",
    dated: "on invoices of",
    rise: "bad",
    section: "exceptions",
    readBy: ["credit"],
    sql: stakes({ model: "duplicate_invoices", amount: "at_stake_amount", dated: "document_date" }),
  },
  {
    title: "Look at what is past due",
    sentence:
      "{amount} was due before today, on {value} of {of_all} {currency} invoices that aren't known to be paid; the most to {subject}, {subject_amount}.",
    rise: "bad",
    section: "outlook",
    readBy: ["paid", "credit"],
    sql: stakes({
      model: "payables_ageing",
      amount: "case when bucket_number between 2 and 5 then open_amount end",
      meant: "case when bucket_number between 2 and 5 then invoice_count else 0 end",
      every: "invoice_count",
    }),
  },
  {
    title: "Set aside what came in without a bill",
    sentence:
      "{amount} was received and not invoiced yet, on {value} of {of_all} order lines that wait for a bill; the most from {subject}, {subject_amount}.",
    dated: "that came in in",
    rise: "bad",
    section: "outlook",
    sql: stakes({ model: "received_not_invoiced", amount: "not_invoiced_amount", dated: "delivered_date" }),
  },
  {
    title: "Take discounts while they last",
    sentence:
      "{amount} of discounts can still be taken, on {value} of {of_all} {currency} invoices; the most from {subject}, {subject_amount}.",
    dated: "on invoices of",
    rise: "good",
    section: "outlook",
    readBy: ["paid"],
    sql: stakes({
      model: "discounts",
      amount: "case when standing = 'to be had' then capturable_amount end",
      meant: "case when standing = 'to be had' then invoice_count else 0 end",
      every: "invoice_count",
      dated: "month",
    }),
  },
  {
    title: "Negotiate prices that rose",
    sentence:
      "{amount} more was paid than at the price of the time before, on {value} of {of_all} invoice lines that have one; the most for {subject}, {subject_amount}.",
    rise: "bad",
    section: "prices",
    sql: stakes({
      model: "price_variance",
      subject: "coalesce(nullif(trim(item_description), ''), item, 'items without a description')",
      amount: "earlier_variance_amount",
      meant: "case when earlier_variance_amount > 0 then earlier_lines else 0 end",
      every: "earlier_lines",
      where: "source_table = 'invoice_line_items'",
    }),
  },
];
