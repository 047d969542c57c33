-- Spend by vendor, item, ledger account, site, month and currency, from the lines of invoices. What an invoice's lines don't
-- explain of its total, such as tax, shipping and discounts, stands in a rest of its own, below 0 where they add up to
-- more; an invoice without lines is all rest. So the rows add up to the totals of the invoices, in each currency, and to
-- spend_by_vendor_month. Credits are no spend, and stand beside it as there. The service sorts items into categories, not
-- lines, and documents no link between them: of lines it says the ledger account. The site is that of the order that the
-- invoice was matched with. Lines and totals of 10^18 and more are taken to be misread and count as missing.
-- needs: invoices, amount_currencies, dim_vendors, currency_rates
-- optional: invoice_line_items, purchase_orders, dim_items, dim_sites
-- key: _company, vendor_id, part, item_key, gl_account_code, site_key, month, currency_code, currency_source
-- references: vendor_id -> dim_vendors.vendor_id
-- references: item_key -> dim_items.item_key
-- references: site_key -> dim_sites.site_key
-- column _company: The company that was invoiced.
-- column vendor_id: Vendor the service resolved the invoices to; null for all those it resolved none for.
-- column vendor_name: The vendor's label as in dim_vendors; null without a vendor.
-- column part: line for what lines say, rest for what they don't explain of their invoices' totals.
-- column item_key: What was bought, as in dim_items; null for rests, and for lines without any number or description.
-- column item_kind: What identifies it, as in dim_items: buyer_part_number, vendor_part_number, manufacturer_part_number or description; null where item_key is.
-- column item: The part number or description itself; null where item_key is.
-- column gl_account_code: Ledger account that the lines are booked to; null for rests, and while lines are not coded.
-- column site_key: Site that the matched order is to be delivered to, as in dim_sites; null without an order or a site.
-- column site_name: Name of that site as the order gives it.
-- column month: First day of the month of the invoices' date; null for invoices without a date.
-- column currency_code: Currency of all amounts of the row; null where it is unknown.
-- column currency_source: Where the currency was found, as in amount_currencies.
-- column line_count: How many invoice lines the row's amounts are made of, those without an amount included; 0 for rests.
-- column invoice_count: How many invoices it counts: each is counted once, in its rest, credits and unclear documents not.
-- column spend_amount: Spend, tax and shipping included in rests. Lines count with their total, else with quantity times price.
-- column without_amount_count: How many of those invoices have no total, so that their spend is missing.
-- column untotalled_amount: What the lines of invoices without a total come to; not part of the spend.
-- column credit_count: How many credits it counts, each once, in its rest.
-- column credit_amount: Their amounts, with the sign that the service gives them; not part of the spend.
-- column unclear_count: How many documents it counts, each once, of which nothing says whether they are credits.
-- column unclear_amount: Their amounts; not part of the spend.
-- column spend_amount_reported: The spend in the reporting currency, each invoice with its lines by the rate of its date; null where no invoice has one. Rests hold what is lost in rounding.
-- column credit_amount_reported: The credits in the reporting currency, likewise.
-- column unclear_amount_reported: The documents of which nothing says whether they are credits, in the reporting currency.
-- column untotalled_amount_reported: untotalled_amount in the reporting currency, by the rate of the invoice's date.
-- column unconverted_count: How many documents, each once, in its rest, have a total and no rate: they and their lines are missing from the amounts in the reporting currency.
-- column unconverted_amount: The part of spend_amount without a rate: spend_amount_reported lacks it.
with documents as (
  select
    i._company,
    i.doc_id,
    nullif(i.vendor_id, '') as vendor_id,
-- with purchase_orders
    nullif(trim(o.delivery_site_name), '') as site_name,
-- end
-- without purchase_orders
-- |    cast(null as text) as site_name,
-- end
    cast(date_trunc('month', i.document_date) as date) as month,
    c.currency_code,
    coalesce(c.currency_source, 'unknown') as currency_source,
    case when abs(i.total_amount) < 1000000000000000000 then i.total_amount end as total_amount,
    case when abs(i.total_amount) < 1000000000000000000 then {{ reported('i.total_amount', 'c', 'r') }} end as total_reported,
    r.factor,
    {{ meaning('credit', 'i') }} as is_credit
  from procurement_analytics.invoices i
-- with purchase_orders
  left join procurement_analytics.purchase_orders o
    on o._company = i._company and o.po_number = i.matched_po_number
-- end
  left join procurement_analytics.amount_currencies c
    on c._company = i._company and c.table_name = 'invoices' and c.row_key = i.doc_id
  left join procurement_analytics.currency_rates r on r.currency_code = c.currency_code and r.rate_date = i.document_date
),
lines as (
-- with invoice_line_items
  select
    _company,
    doc_id,
    case
      when trim(buyer_part_number) <> '' then 'buyer_part_number'
      when trim(vendor_part_number) <> '' then 'vendor_part_number'
      when trim(manufacturer_part_number) <> '' then 'manufacturer_part_number'
      when trim(description) <> '' then 'description'
    end as item_kind,
    coalesce(
      nullif(trim(buyer_part_number), ''),
      nullif(trim(vendor_part_number), ''),
      nullif(trim(manufacturer_part_number), ''),
      nullif(trim(description), '')
    ) as item,
    nullif(trim(gl_account_code), '') as gl_account_code,
    case
      when abs(line_total) < 1000000000000000000 then line_total
      when line_total is null and abs(invoice_qty) < 1000000000 and abs(invoice_unit_price) < 1000000000
        then {{ product('invoice_qty', 'invoice_unit_price') }}
    end as amount
  from procurement_analytics.invoice_line_items
-- end
-- without invoice_line_items
-- |  select cast(null as text) as _company, cast(null as text) as doc_id, cast(null as text) as item_kind, cast(null as text) as item, cast(null as text) as gl_account_code, cast(null as decimal(38, 9)) as amount where false
-- end
),
line_parts as (
  select
    d._company,
    d.doc_id,
    d.vendor_id,
    l.item_kind,
    l.item,
    l.gl_account_code,
    d.site_name,
    d.month,
    d.currency_code,
    d.currency_source,
    d.is_credit,
    d.total_amount is null as is_untotalled,
    l.amount,
    case
      when d.total_amount is null or d.total_reported is not null then {{ reported('l.amount', 'd', 'd') }}
    end as reported
  from documents d
  join lines l on l._company = d._company and l.doc_id = d.doc_id
),
explained as (
  select _company, doc_id, sum(amount) as amount, sum(reported) as reported from line_parts group by _company, doc_id
),
parts as (
  select
    _company,
    vendor_id,
    'line' as part,
    item_kind,
    item,
    gl_account_code,
    site_name,
    month,
    currency_code,
    currency_source,
    is_credit,
    is_untotalled,
    amount,
    reported
  from line_parts
  union all
  select
    d._company,
    d.vendor_id,
    'rest',
    null,
    null,
    null,
    d.site_name,
    d.month,
    d.currency_code,
    d.currency_source,
    d.is_credit,
    d.total_amount is null,
    d.total_amount - coalesce(e.amount, 0),
    d.total_reported - coalesce(e.reported, 0)
  from documents d
  left join explained e on e._company = d._company and e.doc_id = d.doc_id
),
added as (
  select
    _company,
    vendor_id,
    part,
    item_kind,
    item,
    gl_account_code,
    site_name,
    month,
    currency_code,
    currency_source,
    count(*) as part_count,
    count(*) filter (where not is_credit) as invoice_count,
    coalesce(sum(amount) filter (where not is_credit and not is_untotalled), 0) as spend_amount,
    count(*) filter (where not is_credit and is_untotalled) as without_amount_count,
    coalesce(sum(amount) filter (where is_untotalled), 0) as untotalled_amount,
    count(*) filter (where is_credit) as credit_count,
    coalesce(sum(amount) filter (where is_credit and not is_untotalled), 0) as credit_amount,
    count(*) filter (where is_credit is null) as unclear_count,
    coalesce(sum(amount) filter (where is_credit is null and not is_untotalled), 0) as unclear_amount,
    sum(reported) filter (where not is_credit and not is_untotalled) as spend_reported,
    sum(reported) filter (where is_credit and not is_untotalled) as credit_reported,
    sum(reported) filter (where is_credit is null and not is_untotalled) as unclear_reported,
    sum(reported) filter (where is_untotalled) as untotalled_reported,
    count(*) filter (where part = 'rest' and amount is not null and reported is null) as unconverted_count,
    coalesce(sum(amount) filter (where not is_credit and not is_untotalled and reported is null), 0) as unconverted_amount
  from parts
  group by _company, vendor_id, part, item_kind, item, gl_account_code, site_name, month, currency_code, currency_source
)
select
  a._company,
  a.vendor_id,
  v.vendor_name,
  a.part,
  a.item_kind || ':' || case when a.item_kind = 'vendor_part_number' then replace(replace(coalesce(a.vendor_id, ''), '%', '%25'), ':', '%3A') || ':' else '' end || a.item as item_key,
  a.item_kind,
  a.item,
  a.gl_account_code,
  'name:' || a.site_name as site_key,
  a.site_name,
  a.month,
  a.currency_code,
  a.currency_source,
  case when a.part = 'line' then a.part_count else 0 end as line_count,
  case when a.part = 'rest' then a.invoice_count else 0 end as invoice_count,
  a.spend_amount,
  case when a.part = 'rest' then a.without_amount_count else 0 end as without_amount_count,
  a.untotalled_amount,
  case when a.part = 'rest' then a.credit_count else 0 end as credit_count,
  a.credit_amount,
  case when a.part = 'rest' then a.unclear_count else 0 end as unclear_count,
  a.unclear_amount,
  a.spend_reported as spend_amount_reported,
  a.credit_reported as credit_amount_reported,
  a.unclear_reported as unclear_amount_reported,
  a.untotalled_reported as untotalled_amount_reported,
  a.unconverted_count,
  a.unconverted_amount
from added a
left join procurement_analytics.dim_vendors v on v._company = a._company and v.vendor_id = a.vendor_id
