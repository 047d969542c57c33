import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { textsOf } from "../../src/message.ts";
import type { VerifyReport } from "../../src/operations/verify/report.ts";
import { meddle } from "../operations/verify/planting.ts";
import { json, simulated, workplace } from "./workplace.ts";

test("verify finds nothing, then finds what somebody wrote", async () => {
  const simulator = await simulated();
  const { run, folder } = workplace(simulator, {
    views: false,
    destination: { path: "./w.duckdb", readers: "direct" },
  });
  expect((await run(["sync"])).code).toBe(0);

  simulator.requests.clear();
  const clean = await run(["verify", "items", "purchase_order_details", "--sample", "5"]);
  expect(simulator.requests.total).toBe(1 + 2 + 5);
  expect(clean.code).toBe(0);
  expect(clean.stdout).toMatch(/^stream +status +rows +equal +differences +changed since +requests\n/);
  expect(clean.stdout).toMatch(/\nNo difference in 135 rows \(at most 5 details of each kind; /);

  const path = `${folder}/w.duckdb`;
  await meddle({ name: "duckdb", destination: { path } }, [
    "update procurement.purchase_orders set vendor_name = 'Somebody Else' where po_number = 'PO-1'",
    "insert into procurement.items select * from procurement.items order by item_id limit 1",
    "delete from procurement.invoices where doc_id = 'DOC-2'",
  ]);
  const found = await run(["verify", "items", "invoices", "purchase_orders"]);
  expect(found.code).toBe(1);
  expect(found.stdout).toMatch(/\npurchase_orders +po_number=PO-1 +vendor_name +differs +Somebody Else +\S/);
  expect(found.stdout).toMatch(/\ninvoices +doc_id=DOC-2 +missing here\n/);
  expect(found.stdout).toMatch(/\nitems +item_id=\S+ +missing there\n/);
  expect(found.stdout).toMatch(/\nitems +different +130 +129 +1 /);
  expect(found.stdout).toContain("3 differences in 150 rows");
  const told = json<VerifyReport>(await run(["verify", "purchase_orders", "--json"]));
  expect(told).toMatchObject({ status: "different", exit_code: 1, sample: 200, errors: [] });
  expect(told.differences).toMatchObject([{ key: "po_number=PO-1", column_name: "vendor_name", kind: "differs" }]);
});

test("while a run has the file the result is told and not written, with a warning", async () => {
  const simulator = await simulated();
  const { run, start } = workplace(simulator, { views: false });
  expect((await run(["sync", "items", "purchase_order_details"])).code).toBe(0);
  simulator.requests.clear();
  Object.assign(simulator.faults, { hang: 1, only: "/po/" });
  const sync = start("sync", "purchase_order_details", "--details");
  while (simulator.requests.count("/po/{po_number}") === 0) await sleep(20);
  const told = json<VerifyReport>(await run(["verify", "items", "--json"]));
  expect(told).toMatchObject({ status: "equal", exit_code: 0, streams: [{ stream: "items", rows_checked: 130 }] });
  expect(textsOf(told.warnings)).toEqual([expect.stringMatching(/not written to _tributary\.verifications: .*--wait/)]);
  sync.kill("SIGKILL");
});
