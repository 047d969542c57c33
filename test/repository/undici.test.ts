import { createRequire } from "node:module";
import { build } from "rolldown";
import { expect, test } from "vitest";
import config, { leanUndici, UNDICI_MODULES } from "../../rolldown.config.ts";
import { root, sourcesIn } from "./sources.ts";

/*
 * The build bundles private modules of undici (rolldown.config.ts). These tests fail with the first version of undici in
 * which they have moved or are no longer what its index.js exports.
 */

const load = createRequire(import.meta.url);
const remedy =
  "undici has changed what rolldown.config.ts imports of it. Look up in undici's index.js where its classes come from now and correct UNDICI_MODULES and leanIndex; or delete leanUndici, if `npm run bench -- --part undici` says that it saves little.";

function privateModule(path: string): object | undefined {
  try {
    return load(path);
  } catch {
    return undefined;
  }
}

test.each(["Dispatcher", "EnvHttpProxyAgent", "Pool"] as const)(
  "the module of %s has the class undici exports",
  name => {
    expect(privateModule(UNDICI_MODULES[name]), remedy).toBe(load("undici")[name]);
  },
);

test("the module of the api has the methods that undici gives its dispatchers", () => {
  const { Dispatcher } = load("undici") as { readonly Dispatcher: { readonly prototype: object } };
  const api = privateModule(UNDICI_MODULES.api);
  expect(Object.keys(api ?? {}), remedy).toContain("request");
  expect(Dispatcher.prototype, remedy).toMatchObject(api ?? {});
});

test("the bundle finds all that it imports, and leaves out fetch, mocks and HTTP/2", async () => {
  const warnings: string[] = [];
  const onLog = (_: string, { message }: { readonly message: string }) => warnings.push(message);
  const settings = { ...config, cwd: root, input: "undici", plugins: [leanUndici], onLog, write: false };
  const { output } = await build(settings);
  expect(warnings, remedy).toEqual([]);
  const chunks = output.filter(part => part.type === "chunk");
  expect(chunks.filter(chunk => chunk.isEntry).flatMap(chunk => chunk.exports.toSorted())).toEqual([
    "EnvHttpProxyAgent",
    "Pool",
  ]);
  expect(
    chunks.flatMap(chunk => chunk.imports).filter(name => !name.startsWith("node:") || name === "node:http2"),
  ).toEqual([]);
  const modules = chunks.flatMap(chunk => chunk.moduleIds);
  expect(modules.filter(id => id.includes("undici/lib/dispatcher/pool.js"))).toHaveLength(1);
  expect(
    modules.filter(id => /undici\/(index\.js|lib\/(mock|web\/(fetch\/index|websocket)))/.test(id)),
    remedy,
  ).toEqual([]);
});

test("whoever uses undici speaks HTTP/1.1 alone, for the bundle has no HTTP/2", () => {
  const users = sourcesIn("src").filter(({ imports }) =>
    imports.some(({ to, typesOnly }) => to === "undici" && !typesOnly),
  );
  expect(users.length).toBeGreaterThan(1);
  expect(users.filter(({ text }) => !text.includes("allowH2: false")).map(({ path }) => path)).toEqual([]);
});
