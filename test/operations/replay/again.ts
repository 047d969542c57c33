import { runReplay } from "../../../src/operations/replay/replay.ts";
import type { RunReport } from "../../../src/sync/run/run.ts";
import type { StillClock } from "../../support/clock.ts";
import { bench, type Ordered } from "../../support/run.ts";
import type { Warehouse } from "../../support/warehouse.ts";

/** A warehouse that is loaded again from an archive; nothing answers at its service's address. */
export interface Again {
  readonly warehouse: Warehouse;
  readonly said: string[];
  replay(order?: Ordered & { readonly span?: { from?: string; to?: string } }): Promise<RunReport>;
  configure(config: Readonly<Record<string, unknown>>): void;
}

const nobody = { url: "http://127.0.0.1:9", key: "nobody-knows-it" };

/** The address under which a warehouse knows its service. */
export async function addressIn(warehouse: Warehouse): Promise<string> {
  const rows = await warehouse.query("select * from _tributary.warehouse");
  return /http:\/\/127\.0\.0\.1:\d+/.exec(JSON.stringify(rows))![0];
}

/** `url`: the address under which the warehouse knows its service. */
export function again(
  warehouse: Warehouse,
  clock: StillClock,
  config: Readonly<Record<string, unknown>>,
  url: string = nobody.url,
): Again {
  let span: { from?: string; to?: string } = {};
  const at = (text: string | undefined) => (text === undefined ? undefined : Date.parse(text));
  const runs = bench({
    simulator: { ...nobody, url } as never,
    warehouse,
    clock,
    config,
    run: ({ refresh: _refresh, ...order }, tools) =>
      runReplay({ ...order, command: "replay", span: { from: at(span.from), to: at(span.to) }, rejects: false }, tools),
  });
  return {
    warehouse,
    said: runs.said,
    configure: runs.configure,
    async replay({ span: wanted = {}, ...order } = {}) {
      span = wanted;
      return runs.sync(order);
    },
  };
}
