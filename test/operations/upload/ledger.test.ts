import { appendFile, copyFile, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { Message } from "../../../src/message.ts";
import { stillClock } from "../../support/clock.ts";
import { bench } from "../../support/run.ts";
import { duckdbWarehouse, passing } from "../../support/warehouse.ts";
import { move } from "../move/moving.ts";
import { documentsAt, type Place, placeOf, sha256 } from "./place.ts";

/** A place whose warehouse is a file with versions, and what a disk does to it. */
async function filed() {
  const place = await placeOf(duckdbWarehouse("snapshot"));
  const path = String(place.warehouse.destination["path"]);
  const home = path.replace(/\.duckdb$/, ".versions");
  const work = join(home, "work.duckdb");
  const journal = join(home, "uploads.ndjson");
  /** The work file becomes unreadable, and only the version before the newest is left, as after a kill without a publish. */
  const damage = async () => {
    const [older, newest] = (await readdir(home))
      .filter(name => /^\d/.test(name))
      .toSorted()
      .slice(-2);
    const [from, to] = [older, newest].map(name => join(home, name!, basename(path)));
    await rm(to!);
    await copyFile(from!, to!);
    await truncate(work, 5000);
  };
  const outcomes = async (files: readonly string[]) => {
    const warnings: Message[] = [];
    const sent = await place.send(files, { warn: warning => void warnings.push(warning) });
    return { outcomes: sent.map(({ outcome }) => outcome), sent, warnings: warnings.map(({ code }) => code) };
  };
  const noted = async () =>
    (await readFile(journal, "utf8"))
      .trim()
      .split("\n")
      .map(line => JSON.parse(line) as Readonly<Record<string, unknown>>);
  return { ...place, home, work, journal, damage, outcomes, noted };
}

const onlyOnce = ({ simulator }: Pick<Place, "simulator">) =>
  expect([...documentsAt(simulator).values()].every(documents => documents.length <= 1)).toBe(true);

test("after a damaged work file was replaced nothing is sent twice, and the replacement is a warning", async () => {
  const place = await filed();
  const files = ["a.pdf", "b.pdf"].map(name => place.file(name));
  for (const file of files) await place.outcomes([file]);
  expect((await place.noted()).map(({ state }) => state)).toEqual(
    [1, 2].flatMap(() => ["begun", "sent", "finalizing", "finalized"]),
  );
  await place.damage();
  const again = await place.outcomes(files);
  expect(again).toMatchObject({ outcomes: ["present", "present"], warnings: ["duckdb.damaged_replaced"] });
  expect(again.sent.map(({ doc_id }) => doc_id)).toEqual(["DOC-U1", "DOC-U2"]);
  onlyOnce(place);
  expect(await place.ledger()).toMatchObject([
    { doc_id: "DOC-U1" },
    { doc_id: "DOC-U2", sha256: sha256("content of b.pdf") },
  ]);
  expect(await place.outcomes(files)).toMatchObject({ outcomes: ["present", "present"], warnings: [] });
});

test("one that was being finalized when the file was damaged is unknown, one that was not is sent", async () => {
  for (const at of ["sent", "finalizing"]) {
    const place = await filed();
    await place.outcomes([place.file("a.pdf")]);
    const file = place.file("b.pdf");
    const killed = place.send([file], {
      tell({ step }) {
        if (step === at) throw new Error("killed");
      },
    });
    await expect(killed).rejects.toThrow("killed");
    await place.damage();
    const { outcomes } = await place.outcomes([file]);
    expect(outcomes).toEqual([at === "sent" ? "uploaded" : "unknown"]);
    onlyOnce(place);
  }
});

test("without a journal, as an older release left it, what was under way before a damage is unknown", async () => {
  for (const isDamaged of [true, false]) {
    const place = await filed();
    const file = place.file("a.pdf");
    const killed = place.send([file], {
      tell({ step }) {
        if (step === "sent") throw new Error("killed");
      },
    });
    await expect(killed).rejects.toThrow("killed");
    await place.outcomes([place.file("b.pdf")]);
    if (isDamaged) await place.damage();
    await rm(place.journal);
    expect((await place.outcomes([file])).outcomes).toEqual([isDamaged ? "unknown" : "uploaded"]);
    expect((await place.noted()).map(({ file_name }) => file_name)).toContain("a.pdf");
  }
});

test("a line that a kill cut short is none, and one that the disk changed is a warning", async () => {
  const place = await filed();
  const [a, b] = ["a.pdf", "b.pdf"].map(name => place.file(name));
  await place.outcomes([a!]);
  await appendFile(place.journal, '{"company":"acme","sha');
  expect(await place.outcomes([b!])).toMatchObject({ outcomes: ["uploaded"], warnings: ["state.uploads_unread"] });
  await writeFile(place.journal, (await readFile(place.journal, "utf8")).replace('{"company"', '#"company"'));
  expect(await place.outcomes([a!])).toMatchObject({ outcomes: ["present"], warnings: ["state.uploads_unread"] });
  expect(await place.outcomes([a!, b!])).toMatchObject({ outcomes: ["present", "present"], warnings: [] });
});

test("what another service was sent by a former warehouse of the same place is unknown, not present", async () => {
  const place = await filed();
  const file = place.file("a.pdf");
  await place.outcomes([file]);
  const text = await readFile(place.journal, "utf8");
  await writeFile(place.journal, text.replaceAll(place.simulator.url, "https://other.example.com"));
  expect((await place.outcomes([file])).outcomes).toEqual(["present"]);
  for (const name of await readdir(place.home))
    if (name !== basename(place.journal)) await rm(join(place.home, name), { recursive: true });
  await rm(join(dirname(place.home), "warehouse.duckdb"));
  const [unknown] = (await place.outcomes([file])).sent;
  expect(unknown).toMatchObject({ outcome: "unknown", error: expect.stringContaining("other.example.com") });
});

test("a warehouse that is moved after a damage takes its uploads along", async () => {
  const place = await filed();
  const config = { streams: { include: ["items"] } };
  const { simulator, warehouse } = place;
  const clock = stillClock();
  expect((await bench({ simulator, warehouse, clock, config }).sync({ names: ["items"] })).exit_code).toBe(0);
  for (const name of ["a.pdf", "b.pdf"]) await place.outcomes([place.file(name)]);
  await place.damage();
  const to = await passing(duckdbWarehouse("snapshot"));
  await move({ simulator, clock, config }, warehouse, to);
  const moved = await to.query<{ doc_id: string }>('select doc_id from "_tributary".uploads order by doc_id');
  expect(moved.map(({ doc_id }) => doc_id)).toEqual(["DOC-U1", "DOC-U2"]);
});
