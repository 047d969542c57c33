import { describe, expect, onTestFinished, test } from "vitest";
import { startSimulator } from "../../../simulator/simulator.ts";
import { interposed, refused } from "../../support/interposed.ts";
import { bench } from "../../support/run.ts";
import { eitherWarehouse } from "../../support/warehouse.ts";
import { scenario } from "../scenario.ts";

const names = ["purchase_orders"];

describe.each(eitherWarehouse)("$name, by a key that may not read whose it is", ({ make }) => {
  test.each([
    { which: "the same service is accepted by its rows", seed: 5, orders: 60, gone: 2, code: 0 },
    { which: "one that lacks more than a tenth of the rows is refused", seed: 5, orders: 60, gone: 20, code: 2 },
    { which: "another service is refused", seed: 6, orders: 0, gone: 0, code: 2 },
  ])("$which", async ({ seed, orders, gone, code }) => {
    const place = await scenario(make, { orders: 60 }, { options: { seed: 5 } });
    const { clock, warehouse, simulator } = place;
    await place.sync({ names });
    const others = { items: 0, invoices: 0, findings: 0, ingested: 0 };
    const other = await startSimulator({ seed, sizes: { ...others, orders }, now: clock.date });
    onTestFinished(() => other.close());
    if (gone > 0)
      other.delete(
        "purchase_orders",
        [...simulator.truth.rows("purchase_orders")].slice(0, gone).map(row => String(row["po_number"])),
      );
    const look = ({ path }: { readonly path: string }) =>
      path.startsWith("/auth/") ? refused(403, "FORBIDDEN") : undefined;
    const runs = bench({ simulator: await interposed(other, look), warehouse, clock });
    await expect(runs.sync({ names })).rejects.toMatchObject({ exitCode: 2, code: "identity.other_address" });
    const ended = await runs
      .sync({ names, acceptsAddress: true })
      .catch(error => ({ exit_code: error.exitCode, error }));
    expect(ended).toMatchObject(
      code === 0 ? { exit_code: 0 } : { exit_code: 2, error: { code: "run.another_service" } },
    );
    // Then that address is the one it knows, or still is not.
    const after = await runs.sync({ names }).catch(error => ({ exit_code: error.exitCode }));
    expect(after).toMatchObject({ exit_code: code });
    if (code === 2) expect(await place.sync({ names })).toMatchObject({ exit_code: 0 });
  });
});
