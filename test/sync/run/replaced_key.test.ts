import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { identityEndpoint } from "../../../streams/identity.ts";
import { eitherWarehouse, type Warehouse } from "../../support/warehouse.ts";
import { type Scenario, scenario } from "../scenario.ts";

const OTHER = 2;
const sizes = { items: 250, orders: 30, ingested: 250 };

/** A scenario whose key lies in a file, and how another key takes its place at the service and in the file. */
async function withKeyFile(make: () => Promise<Warehouse>): Promise<{
  readonly place: Scenario;
  readonly replace: (key: string, seed?: number) => Promise<void>;
  /** Replaces the key before the second request whose path begins so. */
  readonly replaceAt: (path: string, key: string, seed?: number) => void;
}> {
  const folder = await mkdtemp(join(tmpdir(), "tributary-key-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "key");
  const place = await scenario(make, sizes, { config: { api: { key: `\${file:${file}}` } } });
  await writeFile(file, place.simulator.key);
  const replace = async (key: string, seed?: number) => {
    await writeFile(file, key);
    place.simulator.renewKey(key, seed);
  };
  const replaceAt = (path: string, key: string, seed?: number) => {
    let left = 2;
    place.look = async passing => {
      if (passing.path.startsWith(path) && --left === 0) await replace(key, seed);
      return undefined;
    };
  };
  return { place, replace, replaceAt };
}

const pathsAskedWith = ({ simulator }: Scenario, key: string): readonly string[] =>
  simulator.requests.entries
    .filter(({ headers }) => headers["authorization"] === `Bearer ${key}`)
    .map(each => each.path);

describe.each(eitherWarehouse)("$name: a key that is replaced during a run", ({ make }) => {
  const reading: readonly [string, string, string, number, (place: Scenario) => ReturnType<Scenario["sync"]>][] = [
    ["a list", "/items", "items", 250, place => place.sync({ names: ["items"] })],
    ["details", "/po/", "purchase_order_details", 30, place => place.sync({ names: ["purchase_order_details"] })],
    ["a backfill", "/ingested", "ingested", 250, place => place.backfill({ names: ["ingested"] })],
  ];
  test.each(reading)(
    "by another company's, in %s: exit code 2, and the new key brings no row",
    async (_, path, table, rows, run) => {
      const { place, replace, replaceAt } = await withKeyFile(make);
      replaceAt(path, "others-key", OTHER);
      const ended = await run(place);
      expect(ended).toMatchObject({ exit_code: 2, errors: [{ code: "run.key_of_another_company" }] });
      expect(new Set(pathsAskedWith(place, "others-key"))).toEqual(new Set([identityEndpoint.path]));

      await replace("own-key");
      expect(await run(place)).toMatchObject({ exit_code: 0 });
      expect(await place.count(table)).toBe(rows);
    },
  );

  test("by another company's, in verify: exit code 2, and no difference is reported", async () => {
    const { place, replaceAt } = await withKeyFile(make);
    await place.sync();
    replaceAt("/items", "others-key", OTHER);
    const verified = await place.verify({ names: ["items"] });
    expect(verified).toMatchObject({ exit_code: 2, differences: [], errors: [{ code: "run.key_of_another_company" }] });
    expect(new Set(pathsAskedWith(place, "others-key"))).toEqual(new Set([identityEndpoint.path]));
  });

  test("by one that may not read its company: exit code 3, the new key is not used, and the next run decides", async () => {
    const { place, replaceAt } = await withKeyFile(make);
    replaceAt("/items", "new-key");
    const { look } = place;
    place.look = async passing => {
      const { path, nth } = passing;
      if (path === identityEndpoint.path && nth === 2)
        Object.assign(place.simulator.faults, { only: identityEndpoint.path, refuse: { status: 403, next: 1 } });
      return look(passing);
    };
    const ended = await place.sync({ names: ["items"] });
    expect(ended).toMatchObject({ exit_code: 3, errors: [{ code: "run.key_not_proven" }] });
    expect(pathsAskedWith(place, "new-key")).toEqual([identityEndpoint.path]);
    expect(await place.sync({ names: ["items"] })).toMatchObject({ exit_code: 0 });
    expect(await place.count("items")).toBe(250);
  });

  test("by another of the same company: the run goes on with it", async () => {
    const { place, replaceAt } = await withKeyFile(make);
    replaceAt("/items", "new-key");
    expect(await place.sync({ names: ["items"] })).toMatchObject({ exit_code: 0 });
    expect(pathsAskedWith(place, "new-key")[0]).toBe(identityEndpoint.path);
    expect(await place.count("items")).toBe(250);
  });
});
