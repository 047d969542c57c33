-- Places that goods are delivered to: one row a company and site. The service has an identifier for sites, which
-- requisitions and requests for quotation name, but orders name a site by its name alone, and nothing says that names are
-- unique or those of the list. So sites by identifier and sites by name are rows of their own; listed_site_id says which
-- site bears an order's name, where exactly one does. What an order's detail holds of its site is not documented.
-- optional: delivery_sites, purchase_orders, requisitions, rfqs, rfq_lines
-- key: _company, site_key
-- column _company: Company of this warehouse that the row belongs to, as the configuration names it.
-- column site_key: Site_kind, a colon and the identifier or name: what models join it by.
-- column site_kind: What identifies the site: site_id, or name where a row names no identifier.
-- column site_id: The service's identifier of the site; null for sites by name.
-- column site_name: Its name in the list of sites, else the name that most rows give it; null where none does.
-- column address: Street address from the list of sites; null for others.
-- column city: City from the list of sites; null for others.
-- column state: State or region from the list of sites; null for others.
-- column zip_code: Postal code from the list of sites; null for others.
-- column listed_site_id: Of a site by name the identifier of the only listed site of exactly that name, an assumption; null where none or several have it, and for sites by identifier.
-- column seen_in: The tables whose rows name the site, in alphabetical order.
-- column row_count: How many rows name it, in all tables together.
-- column order_count: How many purchase orders name it; 0 for sites by identifier.
-- column last_changed_at: When a run last brought another value to one of those rows.
with named as (
  select cast(null as text) as _company, cast(null as text) as site_kind, cast(null as text) as site, cast(null as text) as site_name, cast(null as text) as seen_in, cast(null as bigint) as row_count, cast(null as timestamptz) as changed_at
  where false
-- with delivery_sites
  union all select _company, 'site_id', site_id, nullif(trim(site_name), ''), 'delivery_sites', count(*), max(_changed_at)
  from procurement_analytics.delivery_sites where site_id <> '' group by _company, site_id, nullif(trim(site_name), '')
-- end
-- with purchase_orders
  union all select _company, 'name', trim(delivery_site_name), trim(delivery_site_name), 'purchase_orders', count(*), max(_changed_at)
  from procurement_analytics.purchase_orders where trim(delivery_site_name) <> '' group by _company, trim(delivery_site_name)
-- end
-- with requisitions
  union all select _company, 'site_id', delivery_site_id, nullif(trim(delivery_site_name), ''), 'requisitions', count(*), max(_changed_at)
  from procurement_analytics.requisitions where delivery_site_id <> '' group by _company, delivery_site_id, nullif(trim(delivery_site_name), '')
  union all select _company, 'name', trim(delivery_site_name), trim(delivery_site_name), 'requisitions', count(*), max(_changed_at)
  from procurement_analytics.requisitions where coalesce(delivery_site_id, '') = '' and trim(delivery_site_name) <> '' group by _company, trim(delivery_site_name)
-- end
-- with rfqs
  union all select _company, 'site_id', delivery_site_id, null, 'rfqs', count(*), max(_changed_at)
  from procurement_analytics.rfqs where delivery_site_id <> '' group by _company, delivery_site_id
-- end
-- with rfq_lines
  union all select _company, 'site_id', delivery_site_id, null, 'rfq_lines', count(*), max(_changed_at)
  from procurement_analytics.rfq_lines where delivery_site_id <> '' group by _company, delivery_site_id
-- end
),
listed as (
-- with delivery_sites
  select _company, site_id, nullif(trim(site_name), '') as site_name, address, city, state, zip_code
  from procurement_analytics.delivery_sites
-- end
-- without delivery_sites
-- |  select cast(null as text) as _company, cast(null as text) as site_id, cast(null as text) as site_name, cast(null as text) as address, cast(null as text) as city, cast(null as text) as state, cast(null as text) as zip_code where false
-- end
),
alone as (
  select _company, site_name, min(site_id) as site_id from listed group by _company, site_name having count(*) = 1
),
labels as (
  select _company, site_kind, site, site_name, row_number() over (
    partition by _company, site_kind, site order by sum(row_count) desc, max(changed_at) desc, site_name collate "C"
  ) as place
  from named
  where site_name is not null
  group by _company, site_kind, site, site_name
),
tables as (
  select _company, site_kind, site, seen_in, cast(sum(row_count) as bigint) as row_count, max(changed_at) as changed_at
  from named
  group by _company, site_kind, site, seen_in
),
sites as (
  select
    _company,
    site_kind,
    site,
    string_agg(seen_in, ', ' order by seen_in collate "C") as seen_in,
    cast(sum(row_count) as bigint) as row_count,
    coalesce(max(row_count) filter (where seen_in = 'purchase_orders'), 0) as order_count,
    max(changed_at) as last_changed_at
  from tables
  group by _company, site_kind, site
)
select
  s._company,
  s.site_kind || ':' || s.site as site_key,
  s.site_kind,
  case when s.site_kind = 'site_id' then s.site end as site_id,
  coalesce(o.site_name, l.site_name) as site_name,
  o.address,
  o.city,
  o.state,
  o.zip_code,
  a.site_id as listed_site_id,
  s.seen_in,
  s.row_count,
  s.order_count,
  s.last_changed_at
from sites s
left join labels l on l._company = s._company and l.site_kind = s.site_kind and l.site = s.site and l.place = 1
left join listed o on o._company = s._company and o.site_id = case when s.site_kind = 'site_id' then s.site end
left join alone a on a._company = s._company and a.site_name = case when s.site_kind = 'name' then s.site end
