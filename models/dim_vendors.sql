-- Every vendor that any table names: one row a company and vendor id. The name is a label: the one that most rows bear, and of two that are as frequent the one that changed last.
-- A row without a vendor id makes no vendor, for names are no keys. Of snapshots the latest day counts. Join it by _company and vendor_id; vendor_id is null where the service resolved none.
-- optional: purchase_orders, invoices, ingested, findings, contracts, open_items, issues, requisitions, rfqs, rfq_lines, rfq_vendors, rate_cards, freight_claims, carrier_profiles, item_vendors, item_transactions, invoice_amendments, finding_lineage, automation_executions, vendor_completeness, negotiation_details, negotiation_briefs, lane_intelligence_recommendations, analytics_spend_by_vendor, analytics_discounts_by_vendor, analytics_otif_by_vendor_vendors, analytics_carrier_scorecards_carriers, analytics_freight_audit_recent, analytics_intermodal_audit_recent, analytics_tariff_exposure_top_vendors, analytics_tariff_gaps_by_vendor, analytics_tariff_gaps_by_item
-- key: _company, vendor_id
-- column _company: The company whose vendor it is.
-- column vendor_id: The service's identifier of the vendor; with _company the key.
-- column vendor_name: The label that most rows bear; null where no row has one.
-- column other_names: How many further labels rows bear for the same vendor.
-- column vendor_website: The web address that most rows bear; null where no row has one.
-- column seen_in: The tables whose rows name the vendor, in alphabetical order.
-- column row_count: How many rows name the vendor, in all tables together.
-- column order_count: How many purchase orders are resolved to the vendor.
-- column invoice_count: How many invoices are resolved to the vendor.
-- column finding_count: How many findings are about the vendor.
-- column contract_count: How many contracts are with the vendor.
-- column last_changed_at: When a row that names the vendor changed last.
with named as (
  select cast(null as text) as _company, cast(null as text) as vendor_id, cast(null as text) as vendor_name, cast(null as text) as vendor_website, cast(null as text) as seen_in, cast(null as bigint) as row_count, cast(null as timestamptz) as changed_at
  where false
-- with purchase_orders
  union all select _company, vendor_id, vendor_name, vendor_website, 'purchase_orders', count(*), max(_changed_at)
  from procurement_analytics.purchase_orders where vendor_id <> '' group by 1, 2, 3, 4
-- end
-- with invoices
  union all select _company, vendor_id, coalesce(nullif(trim(vendor_name), ''), vendor_name_raw), vendor_website, 'invoices', count(*), max(_changed_at)
  from procurement_analytics.invoices where vendor_id <> '' group by 1, 2, 3, 4
-- end
-- with ingested
  union all select _company, vendor_id, vendor_name, vendor_website, 'ingested', count(*), max(_changed_at)
  from procurement_analytics.ingested where vendor_id <> '' group by 1, 2, 3, 4
-- end
-- with findings
  union all select _company, vendor_id, vendor_name, vendor_website, 'findings', count(*), max(_changed_at)
  from procurement_analytics.findings where vendor_id <> '' group by 1, 2, 3, 4
-- end
-- with contracts
  union all select _company, vendor_id, vendor_name, null, 'contracts', count(*), max(_changed_at)
  from procurement_analytics.contracts where vendor_id <> '' group by 1, 2, 3, 4
-- end
-- with open_items
  union all select _company, vendor_id, vendor_name, null, 'open_items', count(*), max(_changed_at)
  from procurement_analytics.open_items where vendor_id <> '' group by 1, 2, 3, 4
-- end
-- with issues
  union all select _company, vendor_id, vendor_name, null, 'issues', count(*), max(_changed_at)
  from procurement_analytics.issues where vendor_id <> '' group by 1, 2, 3, 4
-- end
-- with requisitions
  union all select _company, vendor_id, vendor_canonical_name, null, 'requisitions', count(*), max(_changed_at)
  from procurement_analytics.requisitions where vendor_id <> '' group by 1, 2, 3, 4
-- end
-- with rfqs
  union all select _company, awarded_vendor_id, null, null, 'rfqs', count(*), max(_changed_at)
  from procurement_analytics.rfqs where awarded_vendor_id <> '' group by 1, 2, 3, 4
-- end
-- with rfq_lines
  union all select _company, awarded_vendor_id, awarded_vendor_name, null, 'rfq_lines', count(*), max(_changed_at)
  from procurement_analytics.rfq_lines where awarded_vendor_id <> '' group by 1, 2, 3, 4
-- end
-- with rfq_vendors
  union all select _company, vendor_id, vendor_name, null, 'rfq_vendors', count(*), max(_changed_at)
  from procurement_analytics.rfq_vendors where vendor_id <> '' group by 1, 2, 3, 4
-- end
-- with rate_cards
  union all select _company, carrier_vendor_id, carrier_name, null, 'rate_cards', count(*), max(_changed_at)
  from procurement_analytics.rate_cards where carrier_vendor_id <> '' group by 1, 2, 3, 4
-- end
-- with freight_claims
  union all select _company, vendor_id, vendor_name, null, 'freight_claims', count(*), max(_changed_at)
  from procurement_analytics.freight_claims where vendor_id <> '' group by 1, 2, 3, 4
-- end
-- with carrier_profiles
  union all select _company, vendor_id, null, null, 'carrier_profiles', count(*), max(_changed_at)
  from procurement_analytics.carrier_profiles where vendor_id <> '' group by 1, 2, 3, 4
-- end
-- with item_vendors
  union all select _company, vendor_id, vendor_name, null, 'item_vendors', count(*), max(_changed_at)
  from procurement_analytics.item_vendors where vendor_id <> '' group by 1, 2, 3, 4
-- end
-- with item_transactions
  union all select _company, vendor_id, vendor_name, null, 'item_transactions', count(*), max(_changed_at)
  from procurement_analytics.item_transactions where vendor_id <> '' group by 1, 2, 3, 4
-- end
-- with invoice_amendments
  union all select _company, vendor_id, null, null, 'invoice_amendments', count(*), max(_changed_at)
  from procurement_analytics.invoice_amendments where vendor_id <> '' group by 1, 2, 3, 4
-- end
-- with finding_lineage
  union all select _company, vendor_id, null, null, 'finding_lineage', count(*), max(_changed_at)
  from procurement_analytics.finding_lineage where vendor_id <> '' group by 1, 2, 3, 4
-- end
-- with automation_executions
  union all select _company, vendor_id, vendor_name, null, 'automation_executions', count(*), max(_changed_at)
  from procurement_analytics.automation_executions where vendor_id <> '' group by 1, 2, 3, 4
-- end
-- with vendor_completeness
  union all select _company, vendor_id, vendor_name, null, 'vendor_completeness', count(*), max(_changed_at)
  from procurement_analytics.vendor_completeness where vendor_id <> '' group by 1, 2, 3, 4
-- end
-- with negotiation_details
  union all select _company, vendor_id, vendor_name, null, 'negotiation_details', count(*), max(_changed_at)
  from procurement_analytics.negotiation_details where vendor_id <> '' group by 1, 2, 3, 4
-- end
-- with negotiation_briefs
  union all select _company, vendor_id, vendor_name, null, 'negotiation_briefs', count(*), max(_changed_at)
  from procurement_analytics.negotiation_briefs where vendor_id <> '' group by 1, 2, 3, 4
-- end
-- with lane_intelligence_recommendations
  union all select _company, carrier_vendor_id, carrier_name, null, 'lane_intelligence_recommendations', count(*), max(_changed_at)
  from procurement_analytics.lane_intelligence_recommendations where carrier_vendor_id <> '' group by 1, 2, 3, 4
-- end
-- with analytics_spend_by_vendor
  union all select _company, vendor_id, vendor_name, null, 'analytics_spend_by_vendor', count(*), max(_changed_at)
  from procurement_analytics.analytics_spend_by_vendor where vendor_id <> '' group by 1, 2, 3, 4
-- end
-- with analytics_discounts_by_vendor
  union all select _company, vendor_id, vendor_name, null, 'analytics_discounts_by_vendor', count(*), max(_changed_at)
  from procurement_analytics.analytics_discounts_by_vendor where vendor_id <> '' group by 1, 2, 3, 4
-- end
-- with analytics_otif_by_vendor_vendors
  union all select _company, vendor_id, vendor_name, null, 'analytics_otif_by_vendor_vendors', count(*), max(_changed_at)
  from procurement_analytics.analytics_otif_by_vendor_vendors where vendor_id <> '' group by 1, 2, 3, 4
-- end
-- with analytics_carrier_scorecards_carriers
  union all select _company, vendor_id, carrier_name, null, 'analytics_carrier_scorecards_carriers', count(*), max(_changed_at)
  from procurement_analytics.analytics_carrier_scorecards_carriers where vendor_id <> '' group by 1, 2, 3, 4
-- end
-- with analytics_freight_audit_recent
  union all select _company, vendor_id, vendor_name, null, 'analytics_freight_audit_recent', count(*), max(_changed_at)
  from procurement_analytics.analytics_freight_audit_recent where vendor_id <> '' group by 1, 2, 3, 4
-- end
-- with analytics_intermodal_audit_recent
  union all select _company, vendor_id, vendor_name, null, 'analytics_intermodal_audit_recent', count(*), max(_changed_at)
  from procurement_analytics.analytics_intermodal_audit_recent where vendor_id <> '' group by 1, 2, 3, 4
-- end
-- with analytics_tariff_exposure_top_vendors
  union all select _company, vendor_id, vendor_name, null, 'analytics_tariff_exposure_top_vendors', count(*), max(_changed_at)
  from procurement_analytics.analytics_tariff_exposure_top_vendors where vendor_id <> '' group by 1, 2, 3, 4
-- end
-- with analytics_tariff_gaps_by_vendor
  union all select _company, vendor_id, vendor_name, null, 'analytics_tariff_gaps_by_vendor', count(*), max(_changed_at)
  from procurement_analytics.analytics_tariff_gaps_by_vendor where vendor_id <> '' group by 1, 2, 3, 4
-- end
-- with analytics_tariff_gaps_by_item
  union all select _company, vendor_id, vendor_name, null, 'analytics_tariff_gaps_by_item', count(*), max(_changed_at)
  from procurement_analytics.analytics_tariff_gaps_by_item where vendor_id <> '' group by 1, 2, 3, 4
-- end
),
labels as (
  select _company, vendor_id, trim(vendor_name) as label, row_number() over (
    partition by _company, vendor_id order by sum(row_count) desc, max(changed_at) desc, trim(vendor_name) collate "C"
  ) as place
  from named
  where trim(vendor_name) <> ''
  group by _company, vendor_id, trim(vendor_name)
),
websites as (
  select _company, vendor_id, trim(vendor_website) as website, row_number() over (
    partition by _company, vendor_id order by sum(row_count) desc, max(changed_at) desc, trim(vendor_website) collate "C"
  ) as place
  from named
  where trim(vendor_website) <> ''
  group by _company, vendor_id, trim(vendor_website)
),
label_counts as (
  select _company, vendor_id, count(*) as label_count from labels group by _company, vendor_id
),
tables as (
  select _company, vendor_id, seen_in, cast(sum(row_count) as bigint) as row_count, max(changed_at) as changed_at
  from named
  group by _company, vendor_id, seen_in
),
vendors as (
  select
    _company,
    vendor_id,
    string_agg(seen_in, ', ' order by seen_in collate "C") as seen_in,
    cast(sum(row_count) as bigint) as row_count,
    coalesce(max(row_count) filter (where seen_in = 'purchase_orders'), 0) as order_count,
    coalesce(max(row_count) filter (where seen_in = 'invoices'), 0) as invoice_count,
    coalesce(max(row_count) filter (where seen_in = 'findings'), 0) as finding_count,
    coalesce(max(row_count) filter (where seen_in = 'contracts'), 0) as contract_count,
    max(changed_at) as last_changed_at
  from tables
  group by _company, vendor_id
)
select
  v._company,
  v.vendor_id,
  l.label as vendor_name,
  coalesce(n.label_count - 1, 0) as other_names,
  w.website as vendor_website,
  v.seen_in,
  v.row_count,
  v.order_count,
  v.invoice_count,
  v.finding_count,
  v.contract_count,
  v.last_changed_at
from vendors v
left join labels l on l._company = v._company and l.vendor_id = v.vendor_id and l.place = 1
left join label_counts n on n._company = v._company and n.vendor_id = v.vendor_id
left join websites w on w._company = v._company and w.vendor_id = v.vendor_id and w.place = 1
