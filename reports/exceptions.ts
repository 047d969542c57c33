import type { Section } from "../src/outputs/report/definition.ts";

const currency = { name: "currency_code", label: "Currency", format: "currency" } as const;

export const exceptions: Section = {
  slug: "exceptions",
  title: "Invoice exceptions",
  lead: "What stands in the way of paying invoices: found by what the service says plainly and by what figures show, never by its status labels, whose values are not documented. All invoices that the service lists count, paid ones too; the last table tells how they stand in the service's own words.",
  blocks: [
    {
      title: "Exceptions by kind",
      note: "An invoice may have several.",
      empty: "Nothing stands in the way of any invoice.",
      fields: [
        { name: "exception", label: "Exception", format: "text" },
        { name: "invoice_count", label: "Invoices", format: "count" },
        { name: "gravest_count", label: "Of them it is the gravest", format: "count" },
      ],
      drawing: { kind: "bars", label: "exception", parts: ["invoice_count"] },
      sql: `
        select
          exception,
          count(*) as invoice_count,
          count(case when exception_number = 1 then 1 end) as gravest_count
        from procurement_analytics.invoice_exceptions
        where _company = :company
        group by exception
        order by count(*) desc, exception`,
    },
    {
      title: "What exceptions are worth",
      note: "For prices what is billed above the order's, for quantities what is billed and not received, for a duplicate the invoice itself; other exceptions have no amount of their own.",
      empty: "No exception has an amount of its own.",
      fields: [
        currency,
        { name: "exception", label: "Exception", format: "text" },
        { name: "invoice_count", label: "Invoices", format: "count" },
        { name: "exception_amount", label: "Worth", format: "money" },
      ],
      drawing: { kind: "bars", label: "exception", parts: ["exception_amount"] },
      sql: `
        select currency_code, exception, count(*) as invoice_count, sum(exception_amount) as exception_amount
        from procurement_analytics.invoice_exceptions
        where _company = :company and exception_amount is not null
        group by currency_code, exception
        order by currency_code nulls last, sum(exception_amount) desc, exception`,
    },
    {
      title: "The largest invoices with exceptions",
      note: "The five largest of each currency, with their gravest exception.",
      empty: "Nothing stands in the way of any invoice.",
      fields: [
        currency,
        { name: "invoice_amount", label: "Invoice total", format: "money" },
        { name: "vendor", label: "Vendor", format: "text", isParty: true },
        { name: "document_number", label: "Invoice", format: "text" },
        { name: "document_date", label: "Dated", format: "date" },
        { name: "due_date", label: "Due", format: "date" },
        { name: "exception", label: "Gravest exception", format: "text" },
        { name: "exceptions", label: "Exceptions", format: "count" },
        { name: "payment_status", label: "Payment status", format: "text" },
      ],
      sql: `
        with ranked as (
          select
            exceptions.*,
            row_number() over (partition by currency_code order by invoice_amount desc nulls last, doc_id) as place
          from procurement_analytics.invoice_exceptions exceptions
          where _company = :company and exception_number = 1
        ),
        largest as (
          select * from ranked where place <= 5
        ),
        counted as (
          select doc_id, count(*) as exceptions
          from procurement_analytics.invoice_exceptions
          where _company = :company and doc_id in (select doc_id from largest)
          group by doc_id
        )
        select
          currency_code, invoice_amount, coalesce(nullif(trim(vendor_name), ''), 'vendor ' || vendor_id) as vendor, document_number, document_date,
          due_date, exception, exceptions, payment_status
        from largest
        join counted on counted.doc_id = largest.doc_id
        order by currency_code nulls last, place`,
    },
    {
      title: "Three-way match",
      note: "Each invoice line against the order's and the receipt's side of the same line, compared exactly: the company's tolerances are not applied.",
      empty: "There are no invoice lines.",
      fields: [
        { name: "verdict", label: "Verdict", format: "text" },
        { name: "line_count", label: "Lines", format: "count" },
        { name: "share", label: "Share", format: "share", of: "line_count" },
      ],
      drawing: { kind: "bars", label: "verdict", parts: ["line_count"] },
      sql: `
        select verdict, count(*) as line_count
        from procurement_analytics.three_way_match
        where _company = :company
        group by verdict
        order by count(*) desc, verdict`,
    },
    {
      title: "How these invoices stand in the service's words",
      note: "Invoices with exceptions by the service's payment and settlement labels, whose values are not documented: leave out those that mean paid.",
      empty: "Nothing stands in the way of any invoice.",
      fields: [
        currency,
        { name: "payment_status", label: "Payment status", format: "text" },
        { name: "settlement_state", label: "Settlement", format: "text" },
        { name: "invoice_count", label: "Invoices", format: "count" },
        { name: "invoice_amount", label: "Invoice totals", format: "money" },
      ],
      sql: `
        select
          currency_code, payment_status, settlement_state, count(*) as invoice_count, sum(invoice_amount) as invoice_amount
        from procurement_analytics.invoice_exceptions
        where _company = :company and exception_number = 1
        group by currency_code, payment_status, settlement_state
        order by currency_code nulls last, count(*) desc, payment_status nulls last, settlement_state nulls last`,
    },
  ],
};
