import { describe, expect, test } from "vitest";
import { followUploads } from "../../../src/operations/upload/follow.ts";
import { eitherWarehouse } from "../../support/warehouse.ts";
import { type Place, placeOf } from "./place.ts";

const meanings = (...values: string[]) => ({ meanings: { processed: { status: values } } });

async function followed(place: Place, names: readonly string[], waitMs = 60_000) {
  const sent = await place.send(names.map(name => place.file(name)));
  const since = sent[0]!.sent_at!;
  return followUploads(
    await place.order(),
    place.tools,
    sent.map(({ doc_id }) => doc_id!),
    { since, waitMs },
  );
}

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("documents are waited for until they are processed, and their rows are loaded", async () => {
    const place = await placeOf(make(), { faults: { processingMs: 20_000 } }, meanings("processed"));
    const { pending, sync, rows } = await followed(place, ["a.pdf", "b.csv"]);
    expect([...pending]).toEqual([]);
    expect(sync).toMatchObject({ status: "succeeded", exit_code: 0 });
    expect(rows).toMatchObject({
      documents: [{ doc_id: "DOC-U1" }, { doc_id: "DOC-U2" }],
      ingested: [
        { id: "DOC-U1", title: expect.stringMatching(/^[ab]\./) },
        { id: "DOC-U2", status: "processed" },
      ],
      findings: [{ doc_id: "DOC-U1" }, { doc_id: "DOC-U2" }],
    });
    expect(await place.warehouse.query('select command from "_tributary".runs')).toEqual([
      { command: "tributary upload" },
    ]);
  });
});

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("a status that the configuration does not take for processed ends no wait, however it sounds", async () => {
    const place = await placeOf(make(), {}, meanings("complete*"));
    const { pending, sync, rows } = await followed(place, ["a.pdf"]);
    expect([...pending]).toEqual([["DOC-U1", "processed"]]);
    expect([sync, rows]).toEqual([undefined, {}]);
    expect(await place.ledger()).toMatchObject([{ state: "finalized" }]);
  });

  test("a document whose processing failed ends the wait, unless the configuration takes its status for processed", async () => {
    for (const processed of ["complete*", "processed"]) {
      const place = await placeOf(make(), { faults: { processingMs: 5_000 } }, meanings(processed));
      const sent = await place.send([place.file("a.pdf")]);
      const order = await place.order();
      const flow = { ...order.flow, record: { ...order.flow.record, failed: ["proces*d"] } };
      const { pending, failed, rows } = await followUploads({ ...order, flow }, place.tools, ["DOC-U1"], {
        since: sent[0]!.sent_at!,
        waitMs: 600_000,
      });
      // A wait that goes on to its end leaves it pending.
      expect(pending.size).toBe(0);
      expect([...failed]).toEqual(processed === "processed" ? [] : [["DOC-U1", "processed"]]);
      expect(Object.keys(rows).includes("documents")).toBe(processed === "processed");
    }
  });

  test("without a meaning nothing is waited for, and it is said what to set", async () => {
    const place = await placeOf(make());
    const before = place.tools.clock.now();
    const { pending, unread, sync } = await followed(place, ["a.pdf"], 3_600_000);
    expect([...pending.keys()]).toEqual(["DOC-U1"]);
    expect(unread).toMatchObject({ code: "upload.processed_unknown" });
    expect(sync).toBeUndefined();
    expect(place.tools.clock.now() - before).toBeLessThan(60_000);
  });

  test("in another vocabulary, and where the record says nothing, the feed's status decides", async () => {
    const place = await placeOf(make(), { vocabulary: "other", faults: { processingMs: 5_000 } }, meanings("VERARB*"));
    const order = await place.order();
    const sent = await place.send([place.file("a.pdf")]);
    const flow = { ...order.flow, record: { ...order.flow.record, status: "no_such_field" } };
    const ids = sent.map(({ doc_id }) => doc_id!);
    const looked = await followUploads({ ...order, flow }, place.tools, ids, {
      since: sent[0]!.sent_at!,
      waitMs: 60_000,
    });
    expect([...looked.pending]).toEqual([]);
    expect(looked.rows["ingested"]).toMatchObject([{ id: ids[0] }]);
  });

  test("one that never ends is left when the time is over, and those that are done are loaded; nobody is locked out meanwhile", async () => {
    const place = await placeOf(make(), { faults: { endlessProcessing: { next: 1 } } }, meanings("processed"));
    const { clock } = place.tools;
    let others = 0;
    const sleep: typeof clock.sleep = async (ms, signal) => {
      if (ms >= 1_000 && others++ === 0)
        expect(await place.send([place.file("other.pdf")])).toMatchObject([{ exit_code: 0 }]);
      await clock.sleep(ms, signal);
    };
    const tools = { ...place.tools, clock: { now: clock.now, sleep } };
    const sent = await place.send([place.file("a.pdf"), place.file("b.pdf")]);
    const ids = sent.map(({ doc_id }) => doc_id!);
    const { pending, rows } = await followUploads(await place.order(), tools, ids, {
      since: sent[0]!.sent_at!,
      waitMs: 30_000,
    });
    expect(others).toBeGreaterThan(0);
    expect([...pending]).toEqual([["DOC-U1", "processing"]]);
    expect(rows["ingested"]).toMatchObject([{ id: "DOC-U2" }]);
  });

  test("faults while it waits are waited out, a key that is refused is told", async () => {
    const place = await placeOf(make(), { faults: { processingMs: 3_000 } }, meanings("processed"));
    const sent = await place.send([place.file("a.pdf")]);
    place.simulator.faults.error500 = 0.4;
    const wait = async () =>
      followUploads(await place.order(), place.tools, ["DOC-U1"], { since: sent[0]!.sent_at!, waitMs: 600_000 });
    expect((await wait()).pending.size).toBe(0);
    place.simulator.faults.error500 = 0;
    place.simulator.renewKey("another");
    const order = await place.order();
    place.simulator.renewKey("a-third-one");
    const refused = followUploads(order, place.tools, ["DOC-U1"], { since: sent[0]!.sent_at!, waitMs: 1_000 });
    await expect(refused).rejects.toMatchObject({ failure: "unauthorized" });
  });
});
