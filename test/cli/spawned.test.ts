import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commands } from "../../src/cli/program.ts";
import { simulated, workplace } from "./workplace.ts";

/** Each command in a process of its own, in an order in which each has something to do. Other tests run them in theirs. */
const uses: readonly (readonly [words: string, stdout: RegExp])[] = [
  ["init --yes --config other.yaml", /other\.yaml/],
  ["check", /^All is well/m],
  ["config", /^company: acme$/m],
  ["streams items", /items/],
  ["sync items purchase_orders invoices", /^Run \S+ succeeded/m],
  ["status", /items/],
  ["refresh purchase_orders PO-1", /^Run \S+ \S+/m],
  ["backfill invoices --yes", /^Run \S+ succeeded/m],
  ["replay items", /^Run \S+/m],
  ["upload note.pdf", /note\.pdf/],
  ["rejects", /reject/],
  ["meanings", /paid/],
  ["verify items --all", /equal/],
  ["ddl", /create table/i],
  ["dbt --out dbt", /dbt/],
  ["docs", /docs-site/],
  ["query select\u00a0count(*)\u00a0from\u00a0items", /130/],
  ["report --out report.html", /\.html/],
  ["read --no-sync items", /ITM-/],
  ["airbyte spec", /SPEC/],
  ["singer --discover", /"streams"/],
  ["export --out parquet", /items/],
  ["move --to moved.yaml", /moved\.duckdb/],
  ["reset items --yes", /items/],
];

test("every command is used here, but those that stay up", () => {
  const used = uses.map(([words]) => words.split(" ")[0]);
  expect([...used, "schedule", "simulate", "work"].sort()).toEqual(commands.map(([name]) => name).sort());
});

test("each command works in a process of its own", async () => {
  const place = workplace(await simulated(), { archive: { path: "./archive" } });
  writeFileSync(join(place.folder, "note.pdf"), "%PDF-1.4");
  const config = readFileSync(join(place.folder, "config.yaml"), "utf8");
  writeFileSync(join(place.folder, "moved.yaml"), config.replace("./w.duckdb", "./moved.duckdb"));
  const unlike: object[] = [];
  for (const [words, stdout] of uses) {
    const ended = await place.run(
      words.split(" ").map(word => word.replaceAll("\u00a0", " ")),
      { spawned: true },
    );
    if (ended.code !== 0 || !stdout.test(ended.stdout)) unlike.push({ words, ...ended });
  }
  expect(unlike).toEqual([]);
});
