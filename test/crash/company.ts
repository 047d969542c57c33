import { type Faults, type Simulator, startSimulator } from "../../simulator/simulator.ts";

export type Sizes = Record<"orders" | "invoices" | "items" | "findings" | "ingested", number>;

/** Recognisable, and written differently in a URL and in base64. */
export const key = "sk-crash/7f3a+secret=";

/** A service whose clock stands still, so that two runs at different times are told the same. */
export function openCompany(sizes: Sizes, faults: Partial<Faults> = {}): Promise<Simulator> {
  // Of this day, as the runs' processes are: figures of a day are kept by our clock, which `api.clock: ignore` believes.
  const now = new Date();
  return startSimulator({ seed: 7, sizes, key, now: () => now, faults });
}

/** What happens at the service between two runs. Items are not deleted: without a total that takes two scans to settle. */
export function night(company: Simulator): void {
  company.update("purchase_orders", 8);
  company.insert("purchase_orders", 4);
  company.delete("purchase_orders", 3);
  company.update("invoices", 6);
  company.insert("invoices", 3);
  company.delete("invoices", 2);
  company.update("items", 20);
  company.insert("items", 10);
  company.update("findings", 5);
  company.insert("findings", 5);
  company.insert("ingested", 12);
}
