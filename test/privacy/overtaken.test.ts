import { describe, expect, inject, onTestFinished, test } from "vitest";
import { textsOf } from "../../src/message.ts";
import { connected } from "../support/database.ts";
import { passing, postgresWarehouse } from "../support/warehouse.ts";
import { office, officeAnswer, type Row } from "./office.ts";
import { kinds, type Place, placeOf } from "./place.ts";

const KEY = "a key of the tests' own";

const hashes = Array.from({ length: 5 }, () => expect.stringMatching(/^[0-9a-f]{64}$/));

const emails = async ({ warehouse }: Place) =>
  (await warehouse.query<{ email: string | null }>("select email from procurement.visits")).map(({ email }) => email);

const found = ({ warehouse }: Place) =>
  warehouse.query<Row>(`select key, column_name, warehouse_value, service_value
    from _tributary.verification_differences where column_name = 'full_name'`);

describe.each(kinds)("%s", (_name, make) => {
  test("a backfill that let a run change privacy goes on under the configuration as it is now, or not at all", async () => {
    const place = await placeOf(make);
    await place.night();
    const order = { catalogue: office, names: ["visits"], range: { from: "2026-02-01", to: undefined } };
    let changing: Promise<unknown> | undefined;
    place.look = async request => {
      if (request.path === "/visits" && changing === undefined) {
        place.under({ pii: "hash", key: KEY });
        changing = place.night({ waitMs: 3_600_000 }).catch(error => error);
        // Only by giving way can the backfill end.
        await changing;
      }
      return officeAnswer(place.stock, request);
    };
    const refusal = await place.backfill(order).catch(error => error);
    expect(refusal).toMatchObject({
      exitCode: 2,
      code: "privacy.replaced",
      fields: { column: "people.email", treatment: "hash" },
    });
    // While DuckDB's file is written anew it is free for a moment: the run that did it may have lost it, and the next one goes on.
    expect(await place.night()).toMatchObject({ exit_code: 0 });
    expect(await emails(place)).toEqual(hashes);
    expect(await place.backfill({ ...order, resume: true })).toMatchObject({ exit_code: 0 });
    expect(await emails(place)).toEqual(hashes);
  });

  test("a backfill that let a run keep values again does not treat them once more", async () => {
    const place = await placeOf(make, { pii: "hash", key: KEY });
    await place.night();
    const order = { catalogue: office, names: ["visits"], range: { from: "2026-02-01", to: undefined } };
    let changing: Promise<unknown> | undefined;
    place.look = async request => {
      if (request.path === "/visits" && changing === undefined) {
        place.under({});
        changing = place.night({ waitMs: 3_600_000 }).catch(error => error);
        await changing;
      }
      return officeAnswer(place.stock, request);
    };
    const refusal = await place.backfill(order).catch(error => error);
    expect(refusal).toMatchObject({
      exitCode: 2,
      code: "privacy.replaced",
      fields: { column: "people.email", treatment: null },
    });
    expect(await place.night({ full: true })).toMatchObject({ exit_code: 0 });
    expect((await emails(place)).sort()).toEqual(place.stock.visits.map(({ email }) => email));
  });
});

describe("postgres, what a verification keeps", () => {
  /** An office whose table says of a person what the service does not, and somebody in the midst of a transaction. */
  async function wronged() {
    const place = await placeOf(() => passing(postgresWarehouse(inject("postgresUrl"))));
    await place.night();
    await place.warehouse.query("update procurement.people set full_name = 'Someone' where person = 'P2'");
    const other = await connected(place.warehouse.destination["url"] as string);
    onTestFinished(() => other.end());
    const waiting = `select from pg_locks where not granted
      and database = (select oid from pg_database where datname = current_database())`;
    const untilHeldUp = () =>
      expect.poll(async () => (await other.query(waiting)).rowCount, { timeout: 60_000 }).toBe(1);
    await other.query("begin");
    return { place, other, untilHeldUp };
  }

  test("a verification that began before privacy was changed keeps of its differences only the keys", async () => {
    const { place } = await wronged();
    await place.verify({ catalogue: office });
    expect(await found(place)).toMatchObject([{ key: "person=P2", service_value: expect.stringContaining("Ada") }]);
    let changing: Promise<unknown> | undefined;
    place.look = async request => {
      if (request.path === "/people/P29" && changing === undefined) {
        place.under({ pii: "hash", key: KEY });
        changing = place.night({ names: ["visits"] });
        await changing;
      }
      return officeAnswer(place.stock, request);
    };
    const report = await place.verify({ catalogue: office });
    expect(await changing).toMatchObject({ exit_code: 0 });
    expect(textsOf(report.warnings).join()).toMatch(
      /Values were not written to _tributary\.verification_differences, only keys/,
    );
    const kept = await found(place);
    expect(kept).toContainEqual({
      key: "person=P2",
      column_name: "full_name",
      warehouse_value: null,
      service_value: null,
    });
    expect(kept.filter(row => row["warehouse_value"] !== null || row["service_value"] !== null)).toEqual([]);
  });

  test("a verification waits for a change of privacy that is about to be stored", async () => {
    const { place, other, untilHeldUp } = await wronged();
    await other.query(`insert into _tributary.privacy (table_name, column_name, treatment, since)
      values ('people', 'full_name', 'exclude', now())`);
    const verifying = place.verify({ catalogue: office });
    await untilHeldUp();
    await other.query("commit");
    expect(textsOf((await verifying).warnings).join()).toMatch(/only keys/);
    expect(await found(place)).toMatchObject([{ key: "person=P2", warehouse_value: null, service_value: null }]);
  });

  test("a change of privacy that another company's run is about to store, too, is looked at before this one is stored", async () => {
    const { place, other, untilHeldUp } = await wronged();
    // The same as here, and one that the configuration does not ask for any more.
    await other.query(`insert into _tributary.privacy (table_name, column_name, treatment, since) values
      ('visits', 'email', 'exclude', '2020-01-01'), ('people', 'desk', 'exclude', '2020-01-01')`);
    place.under({ exclude_columns: ["visits.email", "people.email"] });
    const changing = place.night();
    await untilHeldUp();
    await other.query("commit");
    expect(await changing).toMatchObject({ exit_code: 0, errors: [] });
    const recorded = "select table_name, column_name, treatment from _tributary.privacy order by 1, 2";
    expect(await place.warehouse.query(recorded)).toEqual([
      { table_name: "people", column_name: "desk", treatment: null },
      { table_name: "people", column_name: "email", treatment: "exclude" },
      { table_name: "visits", column_name: "email", treatment: "exclude" },
    ]);
    expect(await place.warehouse.query("select email from procurement.people where email is not null")).toEqual([]);
  });

  test("a change of privacy waits for values that are being kept, and removes them", async () => {
    const { place, other, untilHeldUp } = await wronged();
    await other.query(`lock table _tributary.privacy in share mode;
      insert into _tributary.verification_differences (run_id, company, stream, table_name, key, column_name, kind, service_value)
      values ('v', 'acme', 'people', 'people', 'person=P2', 'full_name', 'differs', 'Ada Lovelace')`);
    place.under({ pii: "exclude" });
    const changing = place.night();
    await untilHeldUp();
    await other.query("commit");
    expect(await changing).toMatchObject({ exit_code: 0 });
    expect(await found(place)).toEqual([]);
  });
});
