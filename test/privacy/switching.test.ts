import { createHmac } from "node:crypto";
import { mkdir, readdir, rename, rm, symlink } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { ConfigError } from "../../src/errors.ts";
import { notePlace } from "../../src/outputs/export/noting.ts";
import { placeOf as exportPlace } from "../../src/outputs/export/place.ts";
import { requirePolicyApplied } from "../../src/privacy/apply_policy.ts";
import { configured } from "../../src/privacy/configured_catalog.ts";
import { type Policy, policyOf } from "../../src/privacy/policy.ts";
import type { RunReport } from "../../src/sync/run/run.ts";
import { openDestination } from "../../src/warehouse/connect/open.ts";
import { openReading } from "../../src/warehouse/connect/reading.ts";
import { addressIn, again } from "../operations/replay/again.ts";
import { exported, whereIs } from "../outputs/export/exporting.ts";
import { lake } from "../outputs/export/lake.ts";
import { archived, damage, filesBelow, temporaryFolder } from "../source/archive/folder.ts";
import type { Passing } from "../support/interposed.ts";
import { compareWarehouses } from "../support/truth.ts";
import { instead } from "../sync/answers.ts";
import { office, officeAnswer, type Row, SECRETS } from "./office.ts";
import { kinds, type Place, placeOf } from "./place.ts";
import { traces } from "./traces.ts";

const KEY = "a key of the tests' own";
const catalogue = office;
const hashOf = (text: string) => createHmac("sha256", KEY).update(text).digest("hex");

const everywhere = ({ warehouse, archive }: Place, exported: readonly string[] = []) =>
  traces(warehouse, [archive, ...exported], SECRETS);

/** As `tributary export` asks before it reads anything. */
async function settled({ warehouse }: Place, policy: Policy): Promise<void> {
  const reading = await openReading(whereIs(warehouse));
  try {
    await requirePolicyApplied(reading!, policy);
  } finally {
    await reading?.close();
  }
}

/** As `tributary export` does: before the first export of a folder, and after the first one under another policy. */
async function note({ warehouse, clock }: Place, path: string, policy: string): Promise<void> {
  const startedAt = clock.date().toISOString();
  const holder = { runId: "export", pid: process.pid, host: hostname(), command: "test", startedAt };
  const place = await exportPlace(path, "/");
  const noting = { place, policy, isKnown: policy !== "", holder, clock, waitMs: 0 };
  expect(await notePlace(whereIs(warehouse), noting)).toBeUndefined();
}

/** The exports that a run's warnings name. */
const outdated = ({ warnings }: RunReport) =>
  warnings.filter(({ code }) => code === "privacy.outdated_exports").flatMap(({ fields }) => fields["paths"]);

describe.each(kinds)("%s", (_name, make) => {
  test("switched from keep to hash, nothing holds the former values, and the service is asked for none of it again", async () => {
    const place = await placeOf(make);
    const { warehouse } = place;
    expect((await place.night()).exit_code).toBe(0);
    await place.night();
    const before = new Set((await everywhere(place)).map(trace => trace.slice(trace.lastIndexOf(": ") + 2)));
    expect([...before].sort()).toEqual([...SECRETS].sort());
    const out = await lake();
    const other = `${out}-2`;
    for (const path of [out, other]) await note(place, path, "");
    await exported(warehouse, out, { clock: place.clock });
    place.clock.advance(1);
    await exported(warehouse, out, { clock: place.clock, live: true });
    expect((await readdir(`${out}.exports`)).length).toBe(2);
    expect((await everywhere(place, [`${out}.exports`])).filter(trace => trace.includes(".parquet: "))).not.toEqual([]);

    place.under({ pii: "hash", key: KEY });
    const wanted = policyOf(catalogue, { pii: "hash", key: KEY, exclude: [], hash: [], mask: [] });
    await expect(settled(place, wanted)).rejects.toThrow(/Run `tributary sync` first/);
    place.asked();
    const report = await place.night();
    expect(report.exit_code).toBe(0);
    await settled(place, wanted);
    expect(await everywhere(place)).toEqual([]);
    expect(place.said.join("\n")).toMatch(/stored treated from now on; \d+ stored values were rewritten/);
    expect(outdated(report)).toEqual([out, other]);
    // What was exported stays as it is until it is exported again; then no version stays that holds the former values.
    expect((await readdir(`${out}.exports`)).length).toBe(2);
    await exported(warehouse, out, { clock: place.clock, privacy: wanted.id });
    await note(place, out, wanted.id);
    expect(await everywhere(place, [`${out}.exports`])).toEqual([]);
    expect((await readdir(`${out}.exports`)).length).toBe(1);
    // What was stored became what the service's values become, but for the object that fitted no column and has a hash now.
    expect(report.streams.filter(line => line.updated + line.inserted + line.deleted > 0)).toMatchObject([
      { stream: "people", updated: 1, inserted: 0, deleted: 0 },
    ]);
    expect(place.asked()).toBeLessThan(15);

    const [row] = await warehouse.query("select * from procurement.people where person = 'P2'");
    expect(row).toMatchObject({
      email: hashOf("ada.lovelace@2.example"),
      full_name: hashOf("Ada Lovelace 2"),
      desk: "desk 2",
      born: null,
      contacts: hashOf('{"phone":"+44 20 7946 2","size":12345678901234567890.125}'),
      notes: { nested: [{ mobile_number: hashOf("+44 20 7946 2") }], of: "the office" },
      _extra: { other_email: hashOf("who-is-this@2.example"), sign: 2 },
    });
    // Equal values are equal wherever they stand: joins go on working.
    const joined = await warehouse.query<{ n: number }>(`select count(*) as n from procurement.people p
      join procurement.message_lines l on l.recipient = p.email join procurement.visits v on v.email = p.email`);
    expect(Number(joined[0]!.n)).toBeGreaterThan(0);
    const moved = await warehouse.query<{ n: number }>(`select count(*) as n from procurement.people
      where _changed_at >= '2026-03-18T00:00:00Z'`);
    expect(Number(moved[0]!.n)).toBe(30);

    const last = await place.night();
    expect(last.streams.filter(line => line.updated + line.inserted + line.deleted > 0)).toEqual([]);
    expect(outdated(last)).toEqual([other]);
    expect(await everywhere(place)).toEqual([]);

    // What is loaded from the archive is what a sync under this policy loads.
    const copy = again(await make(), place.clock, {
      archive: { path: place.archive },
      streams: { defaults: { max_reject_share: 1 } },
      privacy: { pii: "hash", key: KEY },
    });
    expect((await copy.replay({ catalogue })).errors).toEqual([]);
    const clean = await placeOf(make, { pii: "hash", key: KEY });
    await clean.night();
    for (const other of [copy.warehouse, clean.warehouse]) {
      const privacy = { pii: "hash" as const, key: KEY, exclude: [], hash: [], mask: [] };
      const treated = configured(catalogue, { streams: { settings: {} }, privacy });
      const compared = await compareWarehouses(warehouse, other, treated);
      expect(compared.differences).toEqual([]);
      expect(compared.rows).toBeGreaterThan(60);
    }
    expect(await everywhere(clean)).toEqual([]);
  });

  test("what is excluded is nowhere, what is masked shows its end, and both come back when they are kept again", async () => {
    const place = await placeOf(make, {
      exclude_columns: [
        "messages.sender_email",
        "message_lines.*",
        "*.contacts",
        "people._extra",
        "people.notes",
        "names.name",
      ],
      mask_columns: ["*.email", "people.full_name"],
    });
    const { warehouse } = place;
    expect((await place.night()).exit_code).toBe(0);
    const [row] = await warehouse.query<Row>("select * from procurement.people where person = 'P2'");
    expect(row).toMatchObject({ email: "a•••@2.example", full_name: "•••ce 2", desk: "desk 2", _extra: null });
    expect(Object.keys(row!)).not.toContain("contacts");
    const columns = await warehouse.query<Row>("select * from procurement.message_lines limit 1");
    expect(Object.keys(columns[0]!)).toEqual([
      "_company",
      "person",
      "_index",
      "_line_id",
      "_extra",
      "_problems",
      "_changed_at",
      "_deleted_at",
    ]);
    // Views keep the column, so that what is built on them goes on working; and nobody takes it for a field that is new.
    const shown = await warehouse.query<Row>(
      "select contacts, email from procurement_analytics.people where person = 'P2'",
    );
    expect(shown).toEqual([{ contacts: null, email: "a•••@2.example" }]);
    // Of the sender the phone is one: no document names it.
    const unknown = place.said.filter(line => line.includes("documents don't name")).join();
    expect(unknown).toContain('messages.sender (object {"phone":');
    expect(unknown).not.toMatch(/contacts|email|words/);
    // The rows without a key, too: what they were rejected with is treated.
    const [reject] = await warehouse.query<{ raw: Row }>(
      "select raw from _tributary.rejects where stream = 'people' limit 1",
    );
    expect(reject!.raw).toMatchObject({ email: "w•••@nokey.example", desk: "none" });

    place.under({});
    await place.night({ full: true, allDetails: true });
    const kept = await placeOf(make);
    await kept.night();
    const compared = await compareWarehouses(warehouse, kept.warehouse, catalogue);
    expect(compared.differences).toEqual([]);
  });

  test("what a first scan had staged when it failed is dropped, though its list is not read any more", async () => {
    const place = await placeOf(make);
    place.look = request =>
      request.path === "/people" && request.query.has("cursor") ? instead(500, {}) : officeAnswer(place.stock, request);
    expect((await place.night()).exit_code).not.toBe(0);
    expect((await everywhere(place)).filter(trace => /stage/.test(trace) && trace.includes("Ada"))).not.toEqual([]);

    place.under({ pii: "exclude" });
    await place.night({ names: ["visits"] });
    expect(await everywhere(place)).toEqual([]);
  });

  test("what lies staged as it came is not gone on with, though the warehouse, put back from a copy, knows nothing of it", async () => {
    const place = await placeOf(make);
    const { warehouse, clock } = place;
    const volatile = (privacy: Row) => ({
      streams: { defaults: { max_reject_share: 1 }, settings: { people: { volatile: ["full_name"] } } },
      privacy,
    });
    const failing = ({ path, query }: Passing) => path === "/people" && query.has("cursor");
    place.look = request => (failing(request) ? instead(500, {}) : officeAnswer(place.stock, request));
    place.configure(volatile({}));
    expect((await place.night({ names: ["people"] })).exit_code).not.toBe(0);
    const holder = { pid: process.pid, host: hostname(), command: "test", startedAt: clock.date().toISOString() };
    const destination = await openDestination(whereIs(warehouse), { runId: "restored", holder, clock }, 0);
    await destination.db.deleteFrom("stream_runs").execute();
    await destination.close();

    place.configure(volatile({ mask_columns: ["people.full_name"] }));
    place.look = request => officeAnswer(place.stock, request);
    const report = await place.night({ names: ["people"] });
    expect(report.streams).toMatchObject([{ stream: "people", carried: 0, inserted: 30 }]);
    const kept = await warehouse.query<Row>("select 1 from procurement.people where full_name like 'Ada%'");
    expect(kept).toEqual([]);
  });
});

/** What no SQL of a database's own is about, in one of them. */
describe.each(kinds.slice(-1))("%s", (_name, make) => {
  test("a warehouse has one key, and a treatment that can't follow another leaves the value out", async () => {
    const place = await placeOf(make, { hash_columns: ["people.email"], key: KEY });
    await place.night();
    place.asked();
    place.under({ hash_columns: ["people.email"], key: "another key of the tests" });
    await expect(place.night()).rejects.toThrow(/privacy\.key: this warehouse holds hashes \(people\.email/);
    await expect(place.night()).rejects.toThrow(ConfigError);
    expect(place.asked()).toBe(0);

    place.under({ mask_columns: ["people.email"] });
    place.look = () => {
      throw new Error("nobody answers");
    };
    await place.night({ names: ["visits"] }).catch(() => undefined);
    const [row] = await place.warehouse.query<Row>(
      "select email, full_name from procurement.people where person = 'P2'",
    );
    expect(row).toEqual({ email: null, full_name: "Ada Lovelace 2" });

    // No scan has seen the rows since: that their hashes were made under the first policy says nothing of what they hold.
    place.under({ hash_columns: ["people.email"], key: KEY });
    place.look = request => officeAnswer(place.stock, request);
    await place.night();
    const [back] = await place.warehouse.query<Row>("select email from procurement.people where person = 'P2'");
    expect(back).toEqual({ email: hashOf("ada.lovelace@2.example") });
  });

  test("what was hashed with a former key and is left out now takes nothing from what a new key hashes", async () => {
    const place = await placeOf(make, { pii: "hash", key: KEY });
    const { warehouse, clock, archive } = place;
    await place.night();
    place.under({ pii: "exclude" });
    await place.night({ full: true });
    const privacy = { pii: "exclude", hash_columns: ["visits.email"], key: "another key of the tests" };
    place.under(privacy);
    await place.night({ full: true });
    const emails = () =>
      warehouse.query<Row>("select email from procurement.visits where email is not null order by 1");
    const hashed = await emails();
    expect(hashed).toHaveLength(5);
    // A replay looks whether lines in the archive are under another policy.
    const config = { archive: { path: archive }, streams: { defaults: { max_reject_share: 1 } }, privacy };
    const own = again(warehouse, clock, config, await addressIn(warehouse));
    expect((await own.replay({ catalogue })).exit_code).toBe(0);
    expect(await emails()).toEqual(hashed);
    const copy = again(await make(), clock, config);
    expect((await copy.replay({ catalogue })).exit_code).toBe(0);
    expect(await copy.warehouse.query("select email from procurement.visits order by 1")).toEqual(hashed);
  });

  test("an archive that cannot be written anew is told, and no bug; answers in it that are damaged are left out", async () => {
    const place = await placeOf(make);
    await place.night();
    const [first = ""] = await filesBelow(place.archive);
    const inTheWay = join(place.archive, dirname(first), `.${basename(first)}.rewritten`);
    await mkdir(inTheWay);
    place.under({ exclude_columns: ["people.email"] });
    const refused = { exitCode: 1, message: expect.stringMatching(/archive.*EISDIR.*free space/) };
    await expect(place.night()).rejects.toMatchObject(refused);

    await rm(inTheWay, { recursive: true });
    await damage(place.archive, "people");
    const damaged = (await archived(place.archive)).lines.filter(({ head }) => head.stream === "people").length;
    expect(damaged).toBeGreaterThan(0);
    expect((await place.night()).exit_code).toBe(0);
    const bodies = (await archived(place.archive)).lines.map(({ body }) => body.toString());
    expect(bodies.filter(body => body.includes("#"))).toEqual([]);
  });

  test("archived answers of a company whose folder is a link to another disk are rewritten like all others", async () => {
    const place = await placeOf(make);
    await place.night();
    const elsewhere = join(await temporaryFolder(), "acme");
    await rename(join(place.archive, "acme"), elsewhere);
    await symlink(elsewhere, join(place.archive, "acme"));
    place.under({ pii: "exclude" });
    // Its disk is not there for a night.
    await rename(elsewhere, `${elsewhere}.away`);
    await expect(place.night()).rejects.toThrow(/acme of the archive, a link, .*mount its disk/);
    await rename(`${elsewhere}.away`, elsewhere);
    expect((await place.night()).exit_code).toBe(0);
    expect(await traces(place.warehouse, [elsewhere], SECRETS)).toEqual([]);
  });

  test("hashing that was begun, and given up together with its key, leaves nothing that can't go on", async () => {
    const place = await placeOf(make);
    await place.night();
    const answers = (await readdir(place.archive, { recursive: true })).filter(name => name.includes(".ndjson"));
    expect(answers).not.toEqual([]);
    const inTheWay = answers.map(name => join(place.archive, dirname(name), `.${basename(name)}.rewritten`));
    for (const each of inTheWay) await mkdir(each);
    place.under({ hash_columns: ["people.email"], key: KEY });
    await expect(place.night()).rejects.toThrow(/rewritten/);

    for (const each of inTheWay) await rm(each, { recursive: true });
    place.under({});
    await place.night();
    const emails = await place.warehouse.query<Row>("select email from procurement.people where email is not null");
    expect(emails).toContainEqual({ email: "ada.lovelace@2.example" });
    expect((await place.night()).exit_code).toBe(0);
  });
});
