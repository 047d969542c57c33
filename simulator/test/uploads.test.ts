import { createHash } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { type Simulator, type SimulatorOptions, startSimulator } from "../simulator.ts";
import { ask, type Json, read, stillClock } from "./reading.ts";

async function start(options: SimulatorOptions = {}): Promise<Simulator> {
  const simulator = await startSimulator({ now: stillClock().now, ...options });
  onTestFinished(() => simulator.close());
  return simulator;
}

async function post(simulator: Simulator, path: string, body: Json, key = simulator.key) {
  const headers = { "x-api-key": key, "content-type": "application/json" };
  const response = await fetch(`${simulator.url}/api/v1${path}`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  return { status: response.status, data: ((await response.json()) as { data: Record<string, string> }).data };
}

const put = async (url: string, body: string, type = "application/pdf") =>
  (await fetch(url, { method: "PUT", headers: { "content-type": type }, body, redirect: "manual" })).status;

const slot = (simulator: Simulator, fileName = "a.pdf") =>
  post(simulator, "/ingest/initiate", { file_name: fileName, content_type: "application/pdf" });

test.each(["plain", "other"] as const)(
  "a file becomes a document after a while, in the lists too (%s)",
  async vocabulary => {
    const clock = { at: Date.parse("2026-03-15T12:00:00Z") };
    const simulator = await start({
      now: () => new Date(clock.at),
      vocabulary,
      sizes: { ingested: 50 },
      faults: { processingMs: 5_000 },
    });
    const { data } = await slot(simulator);
    expect(new URL(data["upload_url"]!).origin).not.toBe(simulator.url);
    expect(await put(data["upload_url"]!, "content")).toBe(200);
    const { data: finalized } = await post(simulator, "/ingest/finalize", {
      key: data["key"],
      original_filename: "a.pdf",
    });
    const id = finalized["doc_id"]!;
    expect(Object.keys(finalized)).toEqual(["doc_id"]);
    const status = async () =>
      (await read(simulator, `/documents/${encodeURIComponent(id)}`)).data["processing_status"];
    const inFeed = async () =>
      ((await read(simulator, "/ingested?limit=100")).data["items"] as Json[]).filter(row => row["id"] === id);
    const before = await status();
    expect(await inFeed()).toEqual([]);
    clock.at += 5_000;
    expect(await status()).not.toBe(before);
    expect(await inFeed()).toMatchObject([{ title: "a.pdf", status: await status(), size_bytes: 7 }]);
    const listed = (await read(simulator, "/documents?limit=1")).data["documents"] as Json[];
    expect(listed).toMatchObject([{ doc_id: id, file_name: "a.pdf" }]);
    const sha256 = createHash("sha256").update("content").digest("hex");
    expect(simulator.uploads.all).toMatchObject([{ fileName: "a.pdf", sha256, bytes: 7, documents: [id] }]);
  },
);

test("an address takes only what it was signed for, and no one else's", async () => {
  const simulator = await start();
  const { data } = await slot(simulator);
  expect(await put(data["upload_url"]!, "content", "text/plain")).toBe(403);
  expect(await put(data["upload_url"]!.replace(/.$/, "?"), "content")).toBe(403);
  expect((await post(simulator, "/ingest/finalize", { key: data["key"], original_filename: "a" })).status).toBe(422);
  expect((await post(simulator, "/ingest/finalize", { key: "none", original_filename: "a" })).status).toBe(404);
  expect((await post(simulator, "/ingest/initiate", { file_name: "a" })).status).toBe(422);
  expect((await post(simulator, "/ingest/initiate", {}, "wrong")).status).toBe(401);
  expect((await ask(simulator, "/ingest/initiate")).status).toBe(404);
});

test("faults strike each step", async () => {
  const simulator = await start({ faults: { expireAddress: { next: 1 } } });
  const { faults } = simulator;
  expect(await put((await slot(simulator)).data["upload_url"]!, "x")).toBe(403);
  const { data } = await slot(simulator);
  faults.only = "/uploads";
  faults.refuse = { status: 413, next: 1 };
  expect(await put(data["upload_url"]!, "x")).toBe(413);
  faults.redirectTo = "http://127.0.0.1:9";
  expect(await put(data["upload_url"]!, "x")).toBe(302);
  faults.redirectTo = null;
  expect(await put(data["upload_url"]!, "x")).toBe(200);
  faults.only = "/ingest/finalize";
  faults.cutConnection = { next: 1 };
  await expect(post(simulator, "/ingest/finalize", { key: data["key"], original_filename: "a" })).rejects.toThrow();
  expect(simulator.uploads.all[1]?.documents).toHaveLength(1);
  faults.endlessProcessing = { next: 1 };
  await post(simulator, "/ingest/finalize", { key: data["key"], original_filename: "a" });
  expect(simulator.uploads.all[1]?.documents).toHaveLength(2);
});
