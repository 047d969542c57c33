-- What is bought: one row a company and item. The service identifies items by item_id, but documents no link from the
-- lines of invoices and orders to them; so the part numbers that lines name are rows of their own beside the items, by the
-- first of the numbers a line has: buyer_part_number (of orders part_number), vendor_part_number, manufacturer_part_number,
-- and the description where it has none. A vendor's part number is one of that vendor's catalogue, and has its vendor_id.
-- Lines without number and description make no row, nor do lines of requisitions and requests that name no item_id.
-- optional: items, invoices, invoice_line_items, purchase_orders, purchase_order_line_items, requisition_lines, rfq_lines, negotiation_details, negotiation_subjects, negotiation_brief_counter_proposals, analytics_tariff_exposure_top_items, analytics_tariff_gaps_by_item
-- key: _company, item_key
-- column _company: Company of this warehouse that the row belongs to, as the configuration names it.
-- column item_key: Item_kind, a colon and the item (of vendor_part_number the vendor and a colon before it): what models join it by.
-- column item_kind: What identifies it: item_id, buyer_part_number, part_number, vendor_part_number, manufacturer_part_number or description.
-- column item: The identifier, number or description itself, without blanks around it.
-- column vendor_id: Of a vendor_part_number the vendor whose number it is, null where the service resolved none; null for all others.
-- column item_description: What it is, in words: as the list of items says, else what most rows say; null where none does.
-- column other_descriptions: How many further descriptions rows bear for it.
-- column category: Category the service sorts the item into; values not documented, null for part numbers.
-- column subcategory: Finer category below category; null for part numbers.
-- column sku: Stock keeping number of the item; null for part numbers.
-- column mpn: The item's manufacturer part number by the list of items; null for part numbers.
-- column uom: Unit that the item's quantities refer to; null for part numbers, whose lines name their own.
-- column seen_in: The tables whose rows name it, in alphabetical order.
-- column row_count: How many rows name it, in all tables together.
-- column last_changed_at: When a run last brought another value to one of those rows.
with named as (
  select cast(null as text) as _company, cast(null as text) as item_kind, cast(null as text) as vendor_id, cast(null as text) as item, cast(null as text) as description, cast(null as text) as seen_in, cast(null as bigint) as row_count, cast(null as timestamptz) as changed_at
  where false
-- with items
  union all select _company, 'item_id', null, item_id, description, 'items', count(*), max(_changed_at)
  from procurement_analytics.items where item_id <> '' group by _company, item_id, description
-- end
-- with requisition_lines
  union all select _company, 'item_id', null, item_id, item_name, 'requisition_lines', count(*), max(_changed_at)
  from procurement_analytics.requisition_lines where item_id <> '' group by _company, item_id, item_name
-- end
-- with rfq_lines
  union all select _company, 'item_id', null, item_id, description, 'rfq_lines', count(*), max(_changed_at)
  from procurement_analytics.rfq_lines where item_id <> '' group by _company, item_id, description
-- end
-- with negotiation_details
  union all select _company, 'item_id', null, item_id, null, 'negotiation_details', count(*), max(_changed_at)
  from procurement_analytics.negotiation_details where item_id <> '' group by _company, item_id
-- end
-- with negotiation_subjects
  union all select _company, 'item_id', null, item_id, item_description, 'negotiation_subjects', count(*), max(_changed_at)
  from procurement_analytics.negotiation_subjects where item_id <> '' group by _company, item_id, item_description
-- end
-- with negotiation_brief_counter_proposals
  union all select _company, 'item_id', null, item_id, null, 'negotiation_brief_counter_proposals', count(*), max(_changed_at)
  from procurement_analytics.negotiation_brief_counter_proposals where item_id <> '' group by _company, item_id
-- end
-- with analytics_tariff_exposure_top_items
  union all select _company, 'item_id', null, item_id, description, 'analytics_tariff_exposure_top_items', count(*), max(_changed_at)
  from procurement_analytics.analytics_tariff_exposure_top_items where item_id <> '' group by _company, item_id, description
-- end
-- with analytics_tariff_gaps_by_item
  union all select _company, 'item_id', null, item_id, description, 'analytics_tariff_gaps_by_item', count(*), max(_changed_at)
  from procurement_analytics.analytics_tariff_gaps_by_item where item_id <> '' group by _company, item_id, description
-- end
-- with invoices, invoice_line_items
  union all select _company, item_kind, vendor_id, item, description, 'invoice_line_items', count(*), max(_changed_at)
  from (
    select
      lines._company,
      case
        when trim(lines.buyer_part_number) <> '' then 'buyer_part_number'
        when trim(lines.vendor_part_number) <> '' then 'vendor_part_number'
        when trim(lines.manufacturer_part_number) <> '' then 'manufacturer_part_number'
        when trim(lines.description) <> '' then 'description'
      end as item_kind,
      case when coalesce(trim(lines.buyer_part_number), '') = '' and trim(lines.vendor_part_number) <> '' then nullif(invoices.vendor_id, '') end as vendor_id,
      coalesce(
        nullif(trim(lines.buyer_part_number), ''),
        nullif(trim(lines.vendor_part_number), ''),
        nullif(trim(lines.manufacturer_part_number), ''),
        nullif(trim(lines.description), '')
      ) as item,
      lines.description,
      lines._changed_at
    from procurement_analytics.invoice_line_items lines
    join procurement_analytics.invoices invoices
      on invoices._company = lines._company and invoices.doc_id = lines.doc_id
  ) lines
  where item is not null
  group by _company, item_kind, vendor_id, item, description
-- end
-- with purchase_orders, purchase_order_line_items
  union all select _company, item_kind, vendor_id, item, description, 'purchase_order_line_items', count(*), max(_changed_at)
  from (
    select
      lines._company,
      case
        when trim(lines.part_number) <> '' then 'part_number'
        when trim(lines.vendor_part_number) <> '' then 'vendor_part_number'
        when trim(lines.manufacturer_part_number) <> '' then 'manufacturer_part_number'
        when trim(lines.description) <> '' then 'description'
      end as item_kind,
      case when coalesce(trim(lines.part_number), '') = '' and trim(lines.vendor_part_number) <> '' then nullif(orders.vendor_id, '') end as vendor_id,
      coalesce(
        nullif(trim(lines.part_number), ''),
        nullif(trim(lines.vendor_part_number), ''),
        nullif(trim(lines.manufacturer_part_number), ''),
        nullif(trim(lines.description), '')
      ) as item,
      lines.description,
      lines._changed_at
    from procurement_analytics.purchase_order_line_items lines
    join procurement_analytics.purchase_orders orders
      on orders._company = lines._company and orders.po_number = lines.po_number
  ) lines
  where item is not null
  group by _company, item_kind, vendor_id, item, description
-- end
),
keyed as (
  select
    _company,
    item_kind || ':' || case when item_kind = 'vendor_part_number' then replace(replace(coalesce(vendor_id, ''), '%', '%25'), ':', '%3A') || ':' else '' end || item as item_key,
    item_kind,
    vendor_id,
    item,
    nullif(trim(description), '') as description,
    seen_in,
    row_count,
    changed_at
  from named
),
descriptions as (
  select _company, item_key, description, row_number() over (
    partition by _company, item_key order by max(case when seen_in = 'items' then 1 else 0 end) desc, sum(row_count) desc, max(changed_at) desc, description collate "C"
  ) as place
  from keyed
  where description is not null
  group by _company, item_key, description
),
description_counts as (
  select _company, item_key, count(*) as description_count from descriptions group by _company, item_key
),
tables as (
  select
    _company,
    item_key,
    item_kind,
    vendor_id,
    item,
    seen_in,
    cast(sum(row_count) as bigint) as row_count,
    max(changed_at) as changed_at
  from keyed
  group by _company, item_key, item_kind, vendor_id, item, seen_in
),
articles as (
  select
    _company,
    item_key,
    item_kind,
    vendor_id,
    item,
    string_agg(seen_in, ', ' order by seen_in collate "C") as seen_in,
    cast(sum(row_count) as bigint) as row_count,
    max(changed_at) as last_changed_at
  from tables
  group by _company, item_key, item_kind, vendor_id, item
)
select
  a._company,
  a.item_key,
  a.item_kind,
  a.item,
  a.vendor_id,
  d.description as item_description,
  coalesce(c.description_count - 1, 0) as other_descriptions,
-- with items
  i.category,
  i.subcategory,
  i.sku,
  i.mpn,
  i.uom,
-- end
-- without items
-- |  cast(null as text) as category,
-- |  cast(null as text) as subcategory,
-- |  cast(null as text) as sku,
-- |  cast(null as text) as mpn,
-- |  cast(null as text) as uom,
-- end
  a.seen_in,
  a.row_count,
  a.last_changed_at
from articles a
left join descriptions d on d._company = a._company and d.item_key = a.item_key and d.place = 1
left join description_counts c on c._company = a._company and c.item_key = a.item_key
-- with items
left join procurement_analytics.items i
  on i._company = a._company and i.item_id = case when a.item_kind = 'item_id' then a.item end
-- end
