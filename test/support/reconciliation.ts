interface Asked {
  query<T>(text: string): Promise<readonly T[]>;
}

/** Lines in which the invoices' totals and those of the spend model differ, by currency and by what a document is taken for: none is expected. */
export async function unreconciled(warehouse: Asked): Promise<readonly object[]> {
  // Worked out from the documents' own columns, without the models: spend, credits, and what nothing is said of.
  return warehouse.query<object>(`
    with documents as (
      select c.currency_code, i.total_amount, case
          when i.total_amount < 0 or lower(i.doc_type) like '%credit%' then 'credit'
          when i.total_amount is not null or trim(i.doc_type) <> '' then 'invoice'
          else 'unclear' end as sort
      from procurement.invoices i
      left join procurement_analytics.amount_currencies c
        on c._company = i._company and c.table_name = 'invoices' and c.row_key = i.doc_id
      where i._deleted_at is null
    ),
    told as (
      select currency_code, 'invoice' as sort, invoice_count as n, spend_amount as amount
      from procurement_analytics.spend_by_vendor_month
      union all select currency_code, 'credit', credit_count, credit_amount from procurement_analytics.spend_by_vendor_month
      union all select currency_code, 'unclear', unclear_count, unclear_amount from procurement_analytics.spend_by_vendor_month
    )
    select currency_code, sort, sum(n) as n, sum(amount) as amount
    from (
      select currency_code, sort, 1 as n, coalesce(total_amount, 0) as amount from documents
      union all select currency_code, sort, -n, -amount from told
    ) both_sides
    group by currency_code, sort
    having sum(n) <> 0 or sum(amount) <> 0`);
}

/** Groups in which the spend cube adds up to something else than spend_by_vendor_month: none is expected. */
export async function unreconciledCube(
  warehouse: { query(text: string): Promise<readonly object[]> },
  where = "true",
): Promise<readonly object[]> {
  const group = "_company, vendor_id, month, currency_code, currency_source";
  const counts = ["invoice_count", "without_amount_count", "credit_count", "unclear_count", "unconverted_count"];
  const amounts = ["spend_amount", "credit_amount", "unclear_amount"];
  const each = [...counts, ...amounts, ...amounts.map(name => `${name}_reported`)];
  return warehouse.query(`
    select ${group}, ${each.map(name => `sum(${name}) as ${name}`).join(", ")}
    from (
      select ${group}, ${each.join(", ")} from procurement_analytics.spend_cube where ${where}
      union all
      select ${group}, ${each.map(name => `-${name} as ${name}`).join(", ")} from procurement_analytics.spend_by_vendor_month where ${where}
    ) both_sides
    group by ${group}
    having ${each.map(name => `coalesce(sum(${name}), 0) <> 0`).join(" or ")}`);
}
