import type { Entry } from "../collection.ts";
import type { Company } from "./company.ts";
import { orderRow } from "./orders.ts";
export function orderDetail(company: Company, entry: Entry): Record<string, unknown> {
  return orderRow(company, entry);
}
