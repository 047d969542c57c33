import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type Simulator, startSimulator, VOCABULARIES } from "./simulator/simulator.ts";
import { formatTable } from "./src/cli/terminal/table.ts";
import { openReading } from "./src/warehouse/connect/reading.ts";
import { ask } from "./src/warehouse/read/question.ts";

/*
 * `npm run demo`: a simulated service on a free port, the real `sync` over HTTP into demo.duckdb, three times: everything,
 * nothing new, and exactly what changed in between. Then a few questions an analyst would ask, and the report.
 */

const WAREHOUSE = resolve("demo.duckdb");
const PAGE = resolve("demo-report.html");
const KEY_VARIABLE = "PROCUREMENT_API_KEY";

const questions: readonly { readonly asked: string; readonly answer: string }[] = [
  {
    asked:
      "At which vendors are most goods still to come, and how late is the latest order? (currencies are never added up)",
    answer: `select vendor_name as vendor, currency_code as currency, count(*) as orders,
        sum(open_amount)::decimal(18,2) as still_to_come, max(days_late) as days_late
      from procurement_analytics.open_purchase_orders
      where vendor_name is not null group by all order by still_to_come desc nulls last limit 5`,
  },
  {
    asked: "Where was more billed for a unit than was ordered, and what does that make?",
    answer: `select document_number as invoice, description as item, po_unit_price::decimal(18,2) as ordered_at,
        invoice_unit_price::decimal(18,2) as invoiced_at, price_effect_amount::decimal(18,2) as makes, currency_code as currency
      from procurement_analytics.three_way_match
      where price_verdict = 'above order' order by price_effect_amount desc nulls last limit 5`,
  },
  {
    asked: "What can still be had of what the findings caught, by category?",
    answer: `select category, count(*) as findings, count(*) filter (where outcome = 'open') as still_open,
        sum(recoverable_amount)::decimal(18,2) as recoverable, currency_code as currency
      from procurement_analytics.findings_value group by all order by findings desc limit 5`,
  },
];

const HELP = `Usage: npm run demo -- [--vocabulary <name>]

  --vocabulary <name>  values and formats that the service's documents leave open: ${VOCABULARIES.join(" or ")} (default: plain)
`;

async function main(): Promise<void> {
  const { help, vocabulary: asked = "plain" } = parseArgs({
    options: { vocabulary: { type: "string" }, help: { type: "boolean" } },
  }).values;
  const vocabulary = VOCABULARIES.find(name => name === asked);
  if (help || vocabulary === undefined) {
    process.stdout.write(HELP);
    process.exitCode = help ? 0 : 2;
    return;
  }
  const scratch = await mkdtemp(join(tmpdir(), "tributary-demo-"));
  const simulator = await startSimulator({
    sizes: { orders: 400, invoices: 400, items: 250, findings: 120, ingested: 600 },
    vocabulary,
  });
  try {
    await removeOldDemo();
    const config = join(scratch, "config.yaml");
    await writeFile(config, configText(simulator.url));
    say(`A simulated Procurement Intelligence Service answers at ${simulator.url}.`);

    say("1 · The first sync loads everything:");
    await sync(config, simulator.key);
    say("2 · A second sync finds nothing new (its few requests for details are the rotating audit):");
    await sync(config, simulator.key);
    say(`3 · At the source ${change(simulator)}. The third sync brings exactly that:`);
    await sync(config, simulator.key);
    await answer();
    say("The warehouse is demo.duckdb. Open it:\n\n  duckdb -readonly demo.duckdb\n  USE procurement; SHOW TABLES;");
    say("Views for analysts, the answers above among them:\n\n  USE procurement_analytics; SHOW TABLES;");
    await tributary(["report", "--out", PAGE, "--json", "--config", config], simulator.key, "ignore");
    say(
      "The same to look at, charts and tables on one page, is demo-report.html: open it in a browser. Of your own warehouse:\n\n  tributary report --out report.html\n",
    );
  } finally {
    await simulator.close();
    await rm(scratch, { recursive: true, force: true });
  }
}

async function removeOldDemo(): Promise<void> {
  for (const path of [WAREHOUSE, `${WAREHOUSE.replace(/\.duckdb$/, "")}.versions`])
    await rm(path, { recursive: true, force: true });
}

function configText(url: string): string {
  return `api:
  base_url: ${url}
  key: \${${KEY_VARIABLE}}
company: demo
destination:
  type: duckdb
  path: ${JSON.stringify(WAREHOUSE)}
streams:
  include: [item_price_history, contracts]
`;
}

function change(simulator: Simulator): string {
  const updated = simulator.update("purchase_orders", 12).length;
  const inserted = simulator.insert("purchase_orders", 5).length;
  const deleted = simulator.delete("purchase_orders", 3).length;
  return `${updated} orders were updated, ${inserted} inserted and ${deleted} deleted`;
}

const sync = (config: string, key: string): Promise<void> =>
  tributary(["sync", "--config", config, "--no-progress", "--log-level", "warn"], key, "inherit");

function tributary(words: readonly string[], key: string, stdout: "inherit" | "ignore"): Promise<void> {
  const program = join(import.meta.dirname, "src/cli/main.ts");
  const child = spawn(process.execPath, [program, ...words], {
    stdio: ["inherit", stdout, "inherit"],
    env: { ...process.env, [KEY_VARIABLE]: key },
  });
  return new Promise((done, failed) => {
    child.once("error", failed);
    child.once("exit", code => (code === 0 ? done() : failed(new Error(`${words[0]} ended with exit code ${code}`))));
  });
}

async function answer(): Promise<void> {
  const where = {
    type: "duckdb",
    path: WAREHOUSE,
    readers: "snapshot",
    keepVersions: 2,
    schema: "procurement",
    stateSchema: "_tributary",
  } as const;
  await using warehouse = await openReading(where);
  if (warehouse === undefined) throw new Error("the demo's warehouse was not published");
  for (const { asked, answer: question } of questions) {
    const rows = await ask(warehouse.db, question);
    const columns = Object.keys(rows[0] ?? { "(no rows)": "" });
    const align = (name: string) => (rows.every(row => /^-?[\d.]*$/.test(String(row[name] ?? ""))) ? "right" : "left");
    const cells = rows.map(row => columns.map(name => String(row[name] ?? "")));
    say(
      `${asked}\n\n${formatTable(
        columns.map(title => ({ title, align: align(title) })),
        cells,
      )}`,
    );
  }
}

function say(text: string): void {
  process.stdout.write(`\n${text}\n\n`);
}

await main();
