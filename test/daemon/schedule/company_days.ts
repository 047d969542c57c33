import type { Simulator, StreamName } from "../../../simulator/simulator.ts";

/** What people do at the service, and which rows of its lists that has changed since the warehouse was last level with it. */
export interface CompanyDays {
  /** One day's work: some rows change, some come, some go. `invoices`: how many of those change. */
  work(invoices?: number): void;
  /** Keys by list: what the next complete run has to find, and nothing else. */
  changed(): Readonly<Record<string, readonly string[]>>;
  /** The warehouse is level with the service. */
  level(): void;
}

const lists = ["invoices", "findings", "ingested"] as const;

export function companyDays(simulator: Simulator, today: () => Date): CompanyDays {
  const changed = new Map<StreamName, Set<string>>(lists.map(list => [list, new Set()]));
  const unseen = new Set<string>();
  let day = 0;
  const note = (list: StreamName, keys: readonly string[]): void => {
    for (const key of keys) changed.get(list)!.add(key);
  };
  const insert = (list: StreamName, count: number): void => {
    const keys = simulator.insert(list, count);
    note(list, keys);
    for (const key of keys) unseen.add(key);
    // A row without its time would be told only when the whole feed is read.
    if (list === "ingested") for (const key of keys) simulator.patch(list, key, { ts: today().toISOString() });
  };
  const remove = (list: StreamName): void => {
    for (const key of simulator.delete(list, 1)) {
      // What came and went between two runs was never there.
      if (unseen.has(key)) changed.get(list)!.delete(key);
      else note(list, [key]);
    }
  };
  return {
    work(invoices = 2) {
      day++;
      note("invoices", simulator.update("invoices", invoices));
      note("findings", simulator.update("findings", 2));
      insert("ingested", 3);
      if (day % 2 === 0) insert("invoices", 2);
      if (day % 3 === 0) remove("invoices");
      if (day % 5 === 0) insert("findings", 1);
    },
    changed: () => Object.fromEntries([...changed].map(([list, keys]) => [list, [...keys].sort()])),
    level() {
      unseen.clear();
      for (const keys of changed.values()) keys.clear();
    },
  };
}
