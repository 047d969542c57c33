import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { loadConfig } from "../../src/config/load.ts";
import { atTerminal, emptyFolder, tributary } from "./process.ts";

const example = readFileSync(join(import.meta.dirname, "../../config.example.yaml"), "utf8");

test("init --yes writes the example and says what comes next", async () => {
  const cwd = emptyFolder();
  const { code, stdout } = await tributary(["init", "--yes"], { cwd });
  expect(readFileSync(join(cwd, "config.yaml"), "utf8")).toBe(example);
  expect(statSync(join(cwd, "config.yaml")).mode & 0o777).toBe(0o600);
  expect(stdout).toContain("export PROCUREMENT_API_KEY=…\n  tributary check\n  tributary sync");
  expect(code).toBe(0);
  const shown = await tributary(["config"], { cwd, env: { PROCUREMENT_API_KEY: "some-key" } });
  expect(shown.code).toBe(0);
});

test("init without a terminal says how to go on, and a folder that isn't there is named", async () => {
  const cwd = emptyFolder();
  const unasked = await tributary(["init"], { cwd });
  expect(unasked.stderr).toContain("`tributary init --yes`");
  expect([unasked.code, existsSync(join(cwd, "config.yaml"))]).toEqual([2, false]);
  const nowhere = await tributary(["init", "--yes", "--config", "no/config.yaml"], { cwd });
  expect(nowhere.stderr).toContain("no/config.yaml could not be written (ENOENT)");
  expect(nowhere.code).toBe(2);
});

const asked = (cwd: string, typed: Parameters<typeof atTerminal>[2]) => atTerminal(["init"], { cwd, env: {} }, typed);

test("init asks, refuses a bad address, and puts the answers into the example", async () => {
  const cwd = emptyFolder();
  await asked(cwd, [
    ["The service's address", "nonsense\r"],
    ["expected the service's address", `${"\x7f".repeat(8)}https://api.acme.example\r`],
    ["with the API key", "ACME_KEY\r"],
    ["The API key, for .env", "\r"],
    ["company's name", "Acme & Söhne\r"],
    ["Where the tables go", "\x1b[B\r"],
    ["Its address, or a variable", "\r"],
  ]);
  expect(existsSync(join(cwd, ".env"))).toBe(false);
  const written = readFileSync(join(cwd, "config.yaml"), "utf8");
  expect(parse(written)).toMatchObject({
    api: { base_url: "https://api.acme.example", key: "$" + "{ACME_KEY}" },
    company: "Acme & Söhne",
    destination: { type: "postgres", url: "$" + "{DATABASE_URL}" },
  });
  const changed = written.split("\n").filter((line, index) => line !== example.split("\n")[index]);
  expect(changed).toHaveLength(5);
});

test("init offers a lake, and names the commands with the file that it wrote", async () => {
  const cwd = emptyFolder();
  const ended = await atTerminal(["init", "--config", "lake.yaml"], { cwd, env: { PROCUREMENT_API_KEY: "some-key" } }, [
    ["The service's address", "\r"],
    ["with the API key", "\r"],
    ["company's name", "\r"],
    ["Where the tables go", "\x1b[B\x1b[B\r"],
    ["The folder of the files", "s3://bucket/warehouse\r"],
    ["The catalog's address", "postgres://me:pass-word@db.example.com/catalog\r"],
  ]);
  const { config } = await loadConfig(join(cwd, "lake.yaml"), { PROCUREMENT_API_KEY: "some-key" });
  expect(config.destination).toMatchObject({
    ...{ type: "ducklake", dataPath: "s3://bucket/warehouse" },
    catalog: "postgres://me:pass-word@db.example.com/catalog",
  });
  expect(readFileSync(join(cwd, "lake.yaml"), "utf8")).not.toContain("pass-word");
  expect(JSON.stringify(ended)).toContain("check --config lake.yaml");
});

test("init keeps secrets in a .env that its owner alone reads, and every command takes them from it", async () => {
  const cwd = emptyFolder();
  writeFileSync(join(cwd, ".gitignore"), "node_modules");
  writeFileSync(join(cwd, ".env"), "OTHER=1", { mode: 0o644 });
  const address = "postgres://me:pass-word@127.0.0.1:5432/warehouse";
  await asked(cwd, [
    ["The service's address", "\r"],
    ["with the API key", "\r"],
    ["The API key, for .env", "sk#it's-so-secret\r"],
    ["company's name", "\r"],
    ["Where the tables go", "\x1b[B\r"],
    ["Its address, or a variable", `${address}\r`],
  ]);
  expect(readFileSync(join(cwd, ".gitignore"), "utf8")).toBe("node_modules\n.env\n");
  expect(statSync(join(cwd, ".env")).mode & 0o777).toBe(0o600);
  const text = readFileSync(join(cwd, "config.yaml"), "utf8");
  expect(text).not.toMatch(/it's-so|pass-word/);
  const { config, secrets } = await loadConfig(join(cwd, "config.yaml"), {});
  expect(config.companies[0]!.key()).toBe("sk#it's-so-secret");
  expect(config.destination).toMatchObject({ type: "postgres", url: address });
  expect(secrets).toEqual(expect.arrayContaining(["sk#it's-so-secret", "pass-word"]));
  const other = await loadConfig(join(cwd, "config.yaml"), { PROCUREMENT_API_KEY: "of-the-environment" });
  expect(other.config.companies[0]!.key()).toBe("of-the-environment");
});

test.each([
  ["Ctrl-C", "\x03"],
  ["Ctrl-D", "\x04"],
])("%s at a question writes nothing", async (_, key) => {
  const cwd = emptyFolder();
  const later = asked(cwd, [
    ["The service's address", "\r"],
    ["with the API key", key],
  ]);
  expect((await later).code).toBe(130);
  expect(existsSync(join(cwd, "config.yaml"))).toBe(false);
});
