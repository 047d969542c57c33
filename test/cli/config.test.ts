import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { withAddress } from "../config/sample.ts";
import { emptyFolder, tributary } from "./process.ts";

const env = { PROCUREMENT_API_KEY: "key-from-the-environment", DB_PASSWORD: "pass-word" };

function folderWith(yaml: string): string {
  const folder = emptyFolder();
  writeFileSync(join(folder, "config.yaml"), withAddress(yaml));
  return folder;
}

const postgres = `company: acme
destination:
  type: postgres
  url: "postgres://me:\${DB_PASSWORD}@db/warehouse"
`;

test("config prints the defaults filled in and the secrets masked, in the file's own shape", async () => {
  const { code, stdout, stderr } = await tributary(["config"], { cwd: folderWith(postgres), env });
  expect(parse(stdout)).toMatchObject({
    company: "acme",
    api: { key: "•••", max_concurrency: 8, timeout: "30s" },
    destination: { type: "postgres", url: "postgres://me:•••@db/warehouse", publish_every: "15m" },
  });
  expect(stdout + stderr).not.toMatch(/key-from-the-environment|pass-word/);
  expect([code, stderr]).toEqual([0, ""]);
});

test("config --json is one JSON document; what prints without effect is said on stderr", async () => {
  const cwd = folderWith(postgres.replace("type: postgres", "type: duckdb"));
  const { code, stdout, stderr } = await tributary(["config", "--json"], { cwd, env });
  expect(JSON.parse(stdout)).toMatchObject({ company: "acme", api: { key: "•••" }, destination: { type: "duckdb" } });
  expect(stderr).toBe("destination.url has no effect with type duckdb: it belongs to type postgres.\n");
  expect(code).toBe(0);
});

test("--config and TRIBUTARY_CONFIG name another file, the option first", async () => {
  const cwd = folderWith("company: one");
  writeFileSync(join(cwd, "two.yaml"), withAddress("company: two"));
  writeFileSync(join(cwd, "three.yaml"), withAddress("company: three"));
  const company = async (args: string[], more: Record<string, string>): Promise<unknown> => {
    const { stdout } = await tributary(["config", "--json", ...args], { cwd, env: { ...env, ...more } });
    return (JSON.parse(stdout) as { company: unknown }).company;
  };
  expect(await company([], {})).toBe("one");
  expect(await company([], { TRIBUTARY_CONFIG: "two.yaml" })).toBe("two");
  expect(await company(["--config", "three.yaml"], { TRIBUTARY_CONFIG: "two.yaml" })).toBe("three");
});
