-- Each invoice line's quantities and prices beside those of its order and receipt, as the line itself gives them: how far
-- they are apart, what that is worth, and a verdict. three_way_match has the same with the invoice beside it. The comparison
-- is exact: the company's tolerances are not applied, because their unit is not documented.
-- needs: invoice_line_items
-- key: _company, doc_id, line_index
-- column _company: Company of this warehouse that the row belongs to, as the configuration names it.
-- column doc_id: The invoice document.
-- column line_index: Position of the line on the invoice, from 0.
-- column line_no: Line number as it stands on the invoice; null where the line has none.
-- column description: What is billed, in words; null where the line says nothing.
-- column buyer_part_number: What the buying company calls the part; null where it is not given.
-- column vendor_part_number: What the vendor calls the part in its own catalogue; null where it is not given.
-- column manufacturer_part_number: What the maker calls the part, whoever sells it; null where it is not given.
-- column uom: Unit of measure of the quantities; null where it is not given.
-- column po_qty: Quantity on the order's side; po_qty_label says which, null where no order line was found.
-- column received_qty: Quantity that was received; null where no receipt is known.
-- column invoice_qty: Quantity that the invoice bills; null where none was read.
-- column po_unit_price: Price of one unit on the order; null where no order line was found.
-- column invoice_unit_price: Price of one unit as the invoice bills it; null where none was read.
-- column line_total: Total of the invoice line; null where none was read.
-- column quantity_over_order: Billed less ordered quantity, below 0 where less is billed; null where either is not known.
-- column quantity_over_receipt: Billed less received quantity, below 0 where less is billed; null where either is not known.
-- column price_difference: Billed less ordered price of one unit, below 0 where the bill is cheaper; null where either is not known.
-- column price_difference_pct: That difference in percent of the ordered price; null where it is not known or the ordered price is 0.
-- column price_effect_amount: What the difference in price makes over the billed quantity; above 0 is paid too much.
-- column not_received_amount: What is billed beyond the received quantity, at the billed price, 0 where nothing is; null where no receipt is known.
-- column extension_difference: Line total less billed quantity times billed price: what the line's own arithmetic, discounts included, is off by.
-- column quantity_verdict: within, above order, above receipt, above order and receipt, no receipt, no order, or not known.
-- column price_verdict: equal, above order, below order, no order, or not known.
-- column verdict: matched, price differs, quantity differs, price and quantity differ, no order, no receipt, or not known where the invoice's own figures are missing. Billing less than was ordered or received is no difference.
-- column line_status: How the line compares in the service's words; values not documented.
with lines as (
  select
    _company,
    doc_id,
    _index as line_index,
    line_no,
    description,
    buyer_part_number,
    vendor_part_number,
    manufacturer_part_number,
    uom,
    po_qty,
    received_qty,
    invoice_qty,
    po_unit_price,
    invoice_unit_price,
    line_total,
    status as line_status,
    invoice_qty - po_qty as quantity_over_order,
    invoice_qty - received_qty as quantity_over_receipt,
    invoice_unit_price - po_unit_price as price_difference,
    -- A quotient of larger figures has no room in DuckDB's widest decimal and would end the whole query.
    case when abs(invoice_unit_price - po_unit_price) < 10000000000 then invoice_unit_price - po_unit_price end as gap
  from procurement_analytics.invoice_line_items
),
judged as (
  select
    *,
    case
      when invoice_qty is null then 'not known'
      when quantity_over_order > 0 and quantity_over_receipt > 0 then 'above order and receipt'
      when quantity_over_order > 0 then 'above order'
      when quantity_over_receipt > 0 then 'above receipt'
      when po_qty is null then 'no order'
      when received_qty is null then 'no receipt'
      else 'within'
    end as quantity_verdict,
    case
      when invoice_unit_price is null then 'not known'
      when po_unit_price is null then 'no order'
      when price_difference > 0 then 'above order'
      when price_difference < 0 then 'below order'
      else 'equal'
    end as price_verdict
  from lines
)
select
  _company,
  doc_id,
  line_index,
  line_no,
  description,
  buyer_part_number,
  vendor_part_number,
  manufacturer_part_number,
  uom,
  po_qty,
  received_qty,
  invoice_qty,
  po_unit_price,
  invoice_unit_price,
  line_total,
  quantity_over_order,
  quantity_over_receipt,
  price_difference,
  round(
    cast(
      100 * cast(gap as double precision) / nullif(cast(po_unit_price as double precision), 0)
      as decimal(38, 9)
    ),
    4
  ) as price_difference_pct,
  {{ product('invoice_qty', 'price_difference') }} as price_effect_amount,
  case
    when quantity_over_receipt <= 0 then 0
    else {{ product('quantity_over_receipt', 'invoice_unit_price') }}
  end as not_received_amount,
  line_total - {{ product('invoice_qty', 'invoice_unit_price') }} as extension_difference,
  quantity_verdict,
  price_verdict,
  case
    when quantity_verdict like 'above%' and price_verdict in ('above order', 'below order')
      then 'price and quantity differ'
    when price_verdict in ('above order', 'below order') then 'price differs'
    when quantity_verdict like 'above%' then 'quantity differs'
    when quantity_verdict = 'not known' or price_verdict = 'not known' then 'not known'
    when quantity_verdict = 'no order' or price_verdict = 'no order' then 'no order'
    when quantity_verdict = 'no receipt' then 'no receipt'
    else 'matched'
  end as verdict,
  line_status
from judged
