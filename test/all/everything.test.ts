import { expect, onTestFinished, test } from "vitest";
import { startSimulator } from "../../simulator/simulator.ts";
import { readMadeColumns } from "../../src/library/connector.ts";
import type { RunReport } from "../../src/sync/run/run.ts";
import { streams } from "../../streams/index.ts";
import { stillClock } from "../support/clock.ts";
import { models } from "../support/models.ts";
import { unreconciled, unreconciledCube } from "../support/reconciliation.ts";
import { bench } from "../support/run.ts";
import { compareWithTruth } from "../support/truth.ts";
import { type Warehouse, warehouses } from "../support/warehouse.ts";
import { answersOf, modelFaults, modelRows, untrueDeclarations } from "../warehouse/views/answers.ts";

const sizes = { orders: 12, invoices: 12, items: 8, findings: 8, ingested: 24 };
const config = { streams: { preset: "all" }, views: true };
const read = streams.filter(stream => stream.preset !== "lookup" && stream.name !== "vendor_orders_as_of");

/** What the simulator's secrets begin with. */
const secrets = ["whsec_", "xoxb-", "tk_"];

/** What the models answered in the first database: the other one has to say the same. */
let answers: Awaited<ReturnType<typeof answersOf>> | undefined;

// One first load for all of it: a run of the whole catalogue takes seconds.
test.each(warehouses)(
  "every stream of every preset fills its tables with what the service says; a second run changes nothing; what changes in any list is there after the next: $name",
  async ({ name, make }) => {
    const clock = stillClock();
    const simulator = await startSimulator({ sizes, now: clock.date });
    onTestFinished(() => simulator.close());
    const warehouse = await make();
    const { sync, said } = bench({ simulator, warehouse, clock, config });
    const report = await sync();
    expect(
      report.streams.filter(isFaulty).map(inShort),
      "HTTP 404: the endpoint is missing in simulator/documented.json; problems: its rows do not fit the schema in schemas/",
    ).toEqual([]);
    expect(report.streams.map(line => line.stream).sort()).toEqual(read.map(({ name }) => name).sort());
    const loaded = await compareWithTruth(simulator, warehouse, read, "2026-03-15");
    expect(loaded).toMatchObject({ different: 0, differences: [] });
    expect(await tablesWith(warehouse, secrets)).toEqual([]);

    const tables = new Set(
      streams.flatMap(({ tables: { main, children } }) => [main, ...children].map(({ name }) => name)),
    );
    expect(await modelFaults(warehouse, models.models, await readMadeColumns(), tables)).toEqual([]);
    expect(await unreconciled(warehouse)).toEqual([]);
    expect(await unreconciledCube(warehouse)).toEqual([]);
    const rows = await modelRows(warehouse, models.models);
    expect(await untrueDeclarations(warehouse, models.models, rows)).toEqual([]);
    const answered = await answersOf(warehouse, models.models, rows);
    const [assumed] = await warehouse.query<{ counted: number; rows: number }>(
      `select cast(sum(r.matched + r.unmatched + r.nulls) as bigint) as counted, (select count(*) from procurement.invoices) as "rows"
      from _tributary.relations r where r.from_table = 'invoices' and r.to_table in ('purchase_orders', 'dim_vendors')`,
    );
    expect(assumed!.counted).toBe(2 * assumed!.rows);
    expect(answered.get("amount_currencies")!.length).toBeGreaterThan(100);
    for (const [model, other] of answers ?? [])
      expect({ model, rows: answered.get(model) }).toEqual({ model, rows: other });
    answers ??= answered;

    // In DuckDB the upgrade of a warehouse of all streams ends with such a run.
    if (name === "postgres") {
      said.length = 0;
      const again = await sync();
      expect(said.filter(sentence => /view|table/.test(sentence))).toEqual([]);
      expect(again.streams.filter(line => line.inserted + line.updated + line.deleted > 0).map(inShort)).toEqual([]);
      // What changes is loaded into PostgreSQL in vocabulary.test.ts.
      return;
    }

    for (const stream of simulator.streams) {
      if (simulator.truth.count(stream) > 2) simulator.update(stream, 2);
      simulator.insert(stream, 1);
    }
    clock.advance(60_000);
    const changed = await sync();
    expect(changed.streams.filter(isFaulty).map(inShort)).toEqual([]);
    expect(changed.streams.filter(line => line.inserted > 0).length).toBeGreaterThan(40);
    // Rows that left a list that is never cleared stay in its table; details of values are asked for again by their age.
    const comparable = read.filter(
      ({ mode }) =>
        !("absence" in mode && mode.absence === "kept") && !(mode.kind === "detail" && mode.everyDays !== undefined),
    );
    const compared = await compareWithTruth(simulator, warehouse, comparable, "2026-03-15", streams);
    expect(compared).toMatchObject({ different: 0, differences: [] });
  },
);

type Line = RunReport["streams"][number];

const isFaulty = ({ status, rejected, problems }: Line) => status !== "succeeded" || rejected > 0 || problems > 0;

const inShort = ({ stream, status, error, inserted, updated, deleted, rejected, problems }: Line) =>
  [stream, status, error, inserted, updated, deleted, rejected, problems].join(" ");

/** Tables of which a row holds one of the texts. */
async function tablesWith(warehouse: Warehouse, texts: readonly string[]): Promise<string[]> {
  const names = read.flatMap(({ tables }) => [tables.main, ...tables.children].map(({ name }) => name));
  const like = texts.map(text => `position('${text}' in cast(t as varchar)) > 0`).join(" or ");
  const questions = names.map(
    name => `select '${name}' as name where exists (select 1 from procurement.${name} t where ${like})`,
  );
  return warehouse.look(async view => {
    const found: string[] = [];
    // All in one statement took DuckDB five seconds to plan.
    for (let at = 0; at < questions.length; at += 25) {
      const rows = await view.query<{ name: string }>(questions.slice(at, at + 25).join(" union all "));
      found.push(...rows.map(({ name }) => name));
    }
    return found;
  });
}
