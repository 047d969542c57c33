-- In which currency each amount is, decided once for all views: a row for each row with money, or one for all rows of an order, an invoice, an item.
-- To join it: _company, table_name = the table's name and row_key = the first column of the table's key (of ingested: row_type, a slash and id), and where row_index is not null, row_index = _index.
-- The row's own currency comes first, then that of its order, of its document in the intake feed, of the list as a whole, and last the company's: an assumption, as currency_source says.
-- Group amounts by currency_code and currency_source, and never add up two currencies. Columns whose names end in _usd are US dollars and not meant here, but for those of findings; snapshots carry their own currency; invoice_line_items.expected_price has its own in expected_price_currency.
-- optional: company_profile, purchase_orders, purchase_order_details, purchase_order_line_items, purchase_order_price_moves, purchase_order_linked_documents, purchase_order_landed_cost, open_items, ingested, invoices, invoice_line_items, invoice_gl_coding, invoice_procurement_chain, invoice_money_documents, issues, items, item_sourcing, item_vendors, item_price_history, item_transactions, findings, finding_lineage, finding_lineage_contributors, contracts, savings_entries, rate_cards, rate_card_details, rate_card_lines, rate_card_accessorials, freight_claims, freight_claim_details, accessorial_authorizations, carrier_profile_insurance, requisitions, requisition_details, requisition_lines, rfqs, rfq_details, rfq_lines, rfq_lanes, communication_details, communication_attachments
-- key: _company, table_name, row_key, row_index
-- column _company: The company whose amounts they are.
-- column table_name: Table that the amounts stand in.
-- column row_key: First column of that table's key, as text: the order, invoice, item … they belong to; of ingested row_type, a slash and id.
-- column row_index: The row's _index in tables where each row has a currency of its own; null where all rows of the key share one.
-- column currency_code: The currency in capitals; null where nothing says which it is.
-- column currency_source: Where the currency was found: row (on the row or the record it is part of), order (on the purchase order it belongs to or was matched with), feed (on the document in the intake feed, by an assumed join), list (beside the service's list), company (the company's base currency, an assumption), or unknown.
with companies as not materialized (
-- with company_profile
  select _company, nullif(upper(trim(base_currency)), '') as code
  from procurement_analytics.company_profile
-- end
-- without company_profile
-- |  select cast(null as text) as _company, cast(null as text) as code where false
-- end
),
orders as not materialized (
-- with purchase_order_details
  select _company, po_number, nullif(trim(currency_code), '') as code
  from procurement_analytics.purchase_order_details
-- end
-- without purchase_order_details
-- |  select cast(null as text) as _company, cast(null as text) as po_number, cast(null as text) as code where false
-- end
),
lists as not materialized (
-- with purchase_orders
  select _company, po_number, nullif(trim(list_currency_code), '') as code
  from procurement_analytics.purchase_orders
-- end
-- without purchase_orders
-- |  select cast(null as text) as _company, cast(null as text) as po_number, cast(null as text) as code where false
-- end
),
-- An id may be that of a document and of an e-mail: one currency, or none.
feed as not materialized (
-- with ingested
  select _company, id, min(upper(trim(currency_code))) as code
  from procurement_analytics.ingested
  where trim(currency_code) <> ''
  group by _company, id
  having min(upper(trim(currency_code))) = max(upper(trim(currency_code)))
-- end
-- without ingested
-- |  select cast(null as text) as _company, cast(null as text) as id, cast(null as text) as code where false
-- end
),
bills as not materialized (
-- with invoices
  select i._company, i.doc_id, coalesce(f.code, o.code) as code, case when f.code is null then 'order' else 'feed' end as source
  from procurement_analytics.invoices i
  left join feed f on f._company = i._company and f.id = i.doc_id
  left join orders o on o._company = i._company and o.po_number = i.matched_po_number
-- end
-- without invoices
-- |  select cast(null as text) as _company, cast(null as text) as doc_id, cast(null as text) as code, cast(null as text) as source where false
-- end
),
found as not materialized (
  select cast(null as text) as _company, cast(null as text) as table_name, cast(null as text) as row_key, cast(null as bigint) as row_index, cast(null as text) as code, cast(null as text) as source
  where false
-- with purchase_orders
  union all select l._company, 'purchase_orders', l.po_number, null, coalesce(o.code, l.code), case when o.code is null then 'list' else 'order' end
  from lists l left join orders o on o._company = l._company and o.po_number = l.po_number
-- end
-- with purchase_order_details
  union all select o._company, 'purchase_order_details', o.po_number, null, coalesce(o.code, l.code), case when o.code is null then 'list' else 'row' end
  from orders o left join lists l on l._company = o._company and l.po_number = o.po_number
-- end
-- with purchase_order_line_items
  union all select o._company, 'purchase_order_line_items', o.po_number, null, coalesce(o.code, l.code), case when o.code is null then 'list' else 'order' end
  from orders o left join lists l on l._company = o._company and l.po_number = o.po_number
-- end
-- with purchase_order_price_moves
  union all select m._company, 'purchase_order_price_moves', m.po_number, m._index, coalesce(nullif(trim(m.currency), ''), o.code, l.code), case when trim(m.currency) <> '' then 'row' when o.code is null then 'list' else 'order' end
  from procurement_analytics.purchase_order_price_moves m
  left join orders o on o._company = m._company and o.po_number = m.po_number
  left join lists l on l._company = m._company and l.po_number = m.po_number
-- end
-- with purchase_order_linked_documents
  union all select d._company, 'purchase_order_linked_documents', d.po_number, d._index, coalesce(f.code, o.code), case when f.code is null then 'order' else 'feed' end
  from procurement_analytics.purchase_order_linked_documents d
  left join feed f on f._company = d._company and f.id = d.doc_id
  left join orders o on o._company = d._company and o.po_number = d.po_number
-- end
-- with purchase_order_landed_cost
  union all select c._company, 'purchase_order_landed_cost', c.po_number, null, coalesce(nullif(trim(c.currency_code), ''), o.code), case when trim(c.currency_code) <> '' then 'row' else 'order' end
  from procurement_analytics.purchase_order_landed_cost c left join orders o on o._company = c._company and o.po_number = c.po_number
-- end
-- with open_items
  union all select p._company, 'open_items', p.po_number, null, coalesce(o.code, l.code), case when o.code is null then 'list' else 'order' end
  from (select distinct _company, po_number from procurement_analytics.open_items) p
  left join orders o on o._company = p._company and o.po_number = p.po_number
  left join lists l on l._company = p._company and l.po_number = p.po_number
-- end
-- with ingested
  union all select d._company, 'ingested', d.row_type || '/' || d.id, null, d.currency_code, 'row'
  from procurement_analytics.ingested d
-- end
-- with invoices
  union all select _company, 'invoices', doc_id, null, code, source
  from bills
-- end
-- with invoice_line_items
  union all select _company, 'invoice_line_items', doc_id, null, code, source
  from bills
-- end
-- with invoice_gl_coding
  union all select _company, 'invoice_gl_coding', doc_id, null, code, source
  from bills
-- end
-- with invoice_procurement_chain
  union all select d._company, 'invoice_procurement_chain', d.doc_id, d._index, f.code, 'feed'
  from procurement_analytics.invoice_procurement_chain d left join feed f on f._company = d._company and f.id = d.doc_id_
-- end
-- with invoice_money_documents
  union all select d._company, 'invoice_money_documents', d.doc_id, d._index, f.code, 'feed'
  from procurement_analytics.invoice_money_documents d left join feed f on f._company = d._company and f.id = d.doc_id_
-- end
-- with issues
  union all select t._company, 'issues', t.id, null, f.code, 'feed'
  from procurement_analytics.issues t left join feed f on f._company = t._company and f.id = t.doc_id
-- end
-- with items
  union all select _company, 'items', item_id, null, currency_code, 'row'
  from procurement_analytics.items
-- end
-- with item_sourcing
  union all select _company, 'item_sourcing', item_id, null, currency_code, 'row'
  from procurement_analytics.items
-- end
-- with item_vendors
  union all select _company, 'item_vendors', item_id, null, currency_code, 'row'
  from procurement_analytics.items
-- end
-- with item_price_history
  union all select _company, 'item_price_history', item_id, _index, currency_code, 'row'
  from procurement_analytics.item_price_history
-- end
-- with item_transactions
  union all select _company, 'item_transactions', item_id, _index, currency_code, 'row'
  from procurement_analytics.item_transactions
-- end
-- with findings
  union all select _company, 'findings', finding_item_id, null, 'USD', 'row'
  from procurement_analytics.findings
-- end
-- with finding_lineage
  union all select _company, 'finding_lineage', finding_id, null, null, null
  from procurement_analytics.finding_lineage
-- end
-- with contracts
  union all select _company, 'contracts', contract_id, null, null, null
  from procurement_analytics.contracts
-- end
-- with accessorial_authorizations
  union all select _company, 'accessorial_authorizations', id, null, null, null
  from procurement_analytics.accessorial_authorizations
-- end
-- with communication_details
  union all select _company, 'communication_details', id, null, null, null
  from procurement_analytics.communication_details
-- end
-- with finding_lineage_contributors
  union all select _company, 'finding_lineage_contributors', finding_id, null, null, null
  from procurement_analytics.finding_lineage
-- end
-- with carrier_profile_insurance
  union all select _company, 'carrier_profile_insurance', vendor_id, null, null, null
  from procurement_analytics.carrier_profiles
-- end
-- with savings_entries
  union all select _company, 'savings_entries', id, null, list_currency_code, 'list'
  from procurement_analytics.savings_entries
-- end
-- with rate_cards
  union all select _company, 'rate_cards', rate_card_id, null, currency_code, 'row'
  from procurement_analytics.rate_cards
-- end
-- with rate_card_details
  union all select _company, 'rate_card_details', rate_card_id, null, currency_code, 'row'
  from procurement_analytics.rate_card_details
-- end
-- with rate_card_lines
  union all select _company, 'rate_card_lines', rate_card_id, null, currency_code, 'row'
  from procurement_analytics.rate_card_details
-- end
-- with rate_card_accessorials
  union all select _company, 'rate_card_accessorials', rate_card_id, null, currency_code, 'row'
  from procurement_analytics.rate_card_details
-- end
-- with freight_claims
  union all select _company, 'freight_claims', id, null, currency_code, 'row'
  from procurement_analytics.freight_claims
-- end
-- with freight_claim_details
  union all select _company, 'freight_claim_details', id, null, currency_code, 'row'
  from procurement_analytics.freight_claim_details
-- end
-- with requisitions
  union all select _company, 'requisitions', id, null, currency_code, 'row'
  from procurement_analytics.requisitions
-- end
-- with requisition_details
  union all select _company, 'requisition_details', id, null, currency_code, 'row'
  from procurement_analytics.requisition_details
-- end
-- with requisition_lines
  union all select _company, 'requisition_lines', id, null, currency_code, 'row'
  from procurement_analytics.requisition_details
-- end
-- with rfqs
  union all select _company, 'rfqs', id, null, currency_code, 'row'
  from procurement_analytics.rfqs
-- end
-- with rfq_details
  union all select _company, 'rfq_details', id, null, currency_code, 'row'
  from procurement_analytics.rfq_details
-- end
-- with rfq_lines
  union all select _company, 'rfq_lines', id, null, currency_code, 'row'
  from procurement_analytics.rfq_details
-- end
-- with rfq_lanes
  union all select _company, 'rfq_lanes', id, null, currency_code, 'row'
  from procurement_analytics.rfq_details
-- end
-- with communication_attachments
  union all select _company, 'communication_attachments', id, _index, currency, 'row'
  from procurement_analytics.communication_attachments
-- end
)
select
  f._company,
  f.table_name,
  f.row_key,
  f.row_index,
  coalesce(nullif(upper(trim(f.code)), ''), c.code) as currency_code,
  case when trim(f.code) <> '' then f.source when c.code is not null then 'company' else 'unknown' end as currency_source
from found f
left join companies c on c._company = f._company
