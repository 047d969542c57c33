import type { Company } from "../company/company.ts";
import { itemKey, itemNumber, itemRow, itemSourcing } from "../company/items.ts";
import { type PagingMode, pageOf } from "../paging.ts";
import type { Route } from "../routes.ts";
import { atTheHead, type Family, type Row, type Source } from "../source.ts";
import { answerOf, search } from "./lists.ts";
import { perVersion } from "./tally.ts";

export function itemFamily(company: Company): Family {
  return {
    path: "/items",
    keyField: "item_id",
    key: itemKey,
    number: itemNumber,
    row: entry => itemRow(company, entry),
    ranks: atTheHead,
  };
}

interface Tally {
  total_items: number;
  sole_source_count: number;
  dual_source_count: number;
  multi_source_count: number;
  active_contract_count: number;
  high_variance_count: number;
}

/** /items and /items/stats. */
export function itemRoutes(company: Company, source: Source, mode: PagingMode): Route[] {
  const stats = perVersion(source.collection, (): Tally => {
    const tally: Tally = {
      total_items: source.collection.count,
      sole_source_count: 0,
      dual_source_count: 0,
      multi_source_count: 0,
      active_contract_count: 0,
      high_variance_count: 0,
    };
    for (const entry of source.collection.walk(Number.NEGATIVE_INFINITY)) {
      const { vendors, contracts, variance } = itemSourcing(company, entry.number);
      if (vendors === 1) tally.sole_source_count += 1;
      else if (vendors === 2) tally.dual_source_count += 1;
      else tally.multi_source_count += 1;
      if (contracts > 0) tally.active_contract_count += 1;
      if (variance > 3000) tally.high_variance_count += 1;
    }
    return tally;
  });
  return [
    {
      template: "/items",
      answer: request => {
        const { category, sourcing, search: text } = request.query;
        const wants = (row: Row): boolean =>
          (category === undefined || row["category"] === category) &&
          (sourcing === undefined || row["sourcing_strategy"] === sourcing) &&
          search(row, text, ["description", "sku", "mpn", "item_id"]);
        const filtered = category !== undefined || sourcing !== undefined || text !== undefined;
        const page = pageOf(source, request, mode, filtered ? { keep: wants } : {});
        const data = {
          items: page.rows,
          stats: company.currency === null ? null : { total: source.collection.count },
          currency_code: company.currency,
          view: company.seed % 3 === 0 ? null : { name: "all", columns: 12 },
        };
        return answerOf(data, page);
      },
    },
    { template: "/items/stats", answer: () => ({ data: { ...stats() } }) },
  ];
}
