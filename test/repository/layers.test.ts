import { globSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { withoutComments } from "../language/comments.ts";
import { readMap, roomOf } from "./map.ts";
import { type Import, packages, root, type Source, sourcesIn } from "./sources.ts";

/*
 * The structure of the tree, as ARCHITECTURE.md lists it: a folder is a room, and a room imports rooms below it alone.
 */

const { rooms, packages: listed } = readMap();
const sources = sourcesIn("src", "streams", "schemas", "reports", "reader", "simulator").filter(
  ({ path }) => !path.startsWith("simulator/test/"),
);
const engine = sources.filter(({ path }) => /^src\/(?!cli\/|library\/)/.test(path));
const lengthOf = ({ text }: Source): number => text.split("\n").length - 1;

test("every folder has a line in the list of rooms, and every room of the list is there", () => {
  const there = new Set(sources.map(({ path }) => roomOf(rooms, path) ?? `${dirname(path)}/ is not in the list`));
  expect([...there].sort()).toEqual([...rooms].sort());
});

test("a room imports rooms below it and no others", () => {
  expect(eachImport((source, found) => (found.isPackage ? undefined : upwards(source.path, found.to)))).toEqual([]);
});

test("an import that points up is named with both rooms", () => {
  expect(upwards("src/source/client.ts", "src/sync/run/run.ts")).toBe(
    "src/source/client.ts imports src/sync/run/run.ts: src/sync/run/ stands above src/source/ in ARCHITECTURE.md",
  );
  expect(upwards("src/errors.ts", "src/rows/batch.ts")).toMatch("src/rows/ stands above src/");
  expect(upwards("src/warehouse/destination.ts", "src/warehouse/merge/apply.ts")).toMatch("stands above");
  expect(upwards("src/sync/run/run.ts", "src/source/client.ts")).toBeUndefined();
  expect(upwards("src/logging.ts", "src/secrets.ts")).toBeUndefined();
  expect(upwards("src/x/y.ts", "src/errors.ts")).toMatch("src/x/ has no line");
});

test("the simulator imports nothing of the program, and the program loads it in its command alone", () => {
  const own = sources.filter(({ path }) => path.startsWith("simulator/"));
  expect(
    own.flatMap(({ imports }) => imports.filter(({ to, isPackage }) => !isPackage && !to.startsWith("simulator/"))),
  ).toEqual([]);
  const users = sources.filter(
    ({ path, imports }) => !path.startsWith("simulator/") && imports.some(({ to }) => to.startsWith("simulator/")),
  );
  expect(users.map(({ path }) => path)).toEqual(["src/cli/commands/simulate.ts"]);
});

test("no file imports itself over others, types included", () => {
  const next = new Map(sources.map(({ path, imports }) => [path, imports.map(found => found.to)]));
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (path: string, way: readonly string[]): void => {
    if (way.includes(path)) cycles.push([...way.slice(way.indexOf(path)), path].join(" → "));
    if (done.has(path) || way.includes(path)) return;
    for (const to of next.get(path) ?? []) visit(to, [...way, path]);
    done.add(path);
  };
  for (const path of next.keys()) visit(path, []);
  expect(cycles).toEqual([]);
});

test("the map lists the packages of package.json, runtime ones are those that are imported, and only by their places", () => {
  const { runtime, development } = packages();
  expect([...listed.keys()].sort()).toEqual([...runtime, ...development].sort());
  const shipped = [...listed].filter(([, where]) => where.length > 0).map(([name]) => name);
  expect(shipped.sort()).toEqual([...runtime].sort());
  const strangers = eachImport(({ path }, { to, isPackage }) => {
    const where = listed.get(to) ?? [];
    const allowed = where.some(place => (place.endsWith("/") ? path.startsWith(place) : path === place));
    return !isPackage || allowed ? undefined : `${path} imports ${to}: only ${where.join(", ") || "nothing"} may`;
  });
  expect(strangers).toEqual([]);
  const imported = new Set(sources.flatMap(({ imports }) => imports.map(({ to }) => to)));
  expect(shipped.filter(name => !imported.has(name))).toEqual([]);
});

// The defaults of the configuration are the service's own: its address, its schema, the variable with its key.
const defaults = /procurement\.example\.com|PROCUREMENT_API_KEY|schemaName\(\)\.default\("procurement"\)/g;
const trade = /purchase.?order|\bpo_number|invoice|vendor|finding|procurement|ingested|\bline_item/i;

test("the engine's code knows no word of procurement; a comment may give an example", () => {
  const words = engine.flatMap(({ path, text }) =>
    withoutComments(text)
      .split("\n")
      .flatMap((line, at) => {
        const word = trade.exec(/^src\/(config|options)\//.test(path) ? line.replace(defaults, "") : line)?.[0];
        return word === undefined ? [] : [`${path}:${at + 1} says ${word}`];
      }),
  );
  expect(words).toEqual([]);
});

test("no barrels: nothing in src/ is called index.ts, exports all of another file, or only passes on", () => {
  const barrels = sources
    .filter(({ path }) => path.startsWith("src/"))
    .filter(
      ({ path, text }) =>
        path.endsWith("/index.ts") ||
        /^export \*/m.test(text) ||
        !/^(?!import|export (type )?\{)\S/m.test(text.replace(/\{[^}]*\}/g, "{}").replace(/^\/.*$/gm, "")),
    );
  // What the package offers to programs has to be listed in one file.
  expect(barrels.map(({ path }) => path)).toEqual(["src/library/index.ts"]);
});

test("what the package offers to programs is what its commands do: they ask the library, and neither service nor warehouse", () => {
  const importsOf = (path: string) => sources.find(source => source.path === path)!.imports.map(({ to }) => to);
  // Of what is read, commands of three formats tell in the same way.
  for (const name of ["read", "streams", "sync", "upload"]) {
    const asked = importsOf(`src/cli/${name === "read" ? "protocols" : "commands"}/${name}.ts`);
    const asking = name === "read" ? importsOf("src/cli/protocols/protocol_read.ts") : asked;
    expect(asking, name).toContain(`src/library/${name}.ts`);
    const work = /^src\/(source|warehouse|sync\/run\/attempts|operations\/upload\/(upload|follow)|outputs)\b/;
    expect(
      asked.filter(to => work.test(to)),
      name,
    ).toEqual([]);
  }
});

/** Too small for a file of their own, were it not for the reason given. */
const small: Readonly<Record<string, string>> = {
  "src/cli/commands/config.ts": "a file a command",
  "src/cli/commands/ddl.ts": "a file a command",
  "src/cli/commands/streams.ts": "a file a command",
  "src/source/archive/pruning.ts": "its importer stands in another room",
  "src/warehouse/connect/view_types.ts": "its importer stands in another room",
  "src/warehouse/ducklake/reading.ts": "its importer stands in another room",
  "src/warehouse/state/verifications.ts": "its importer stands in another room",
};

test("a file under 40 lines with one importer stands in its importer, but for those with a reason", () => {
  const importers = Map.groupBy(
    sources.flatMap(({ path, imports }) => [...new Set(imports.map(({ to }) => to))].map(to => ({ path, to }))),
    ({ to }) => to,
  );
  const alone = sources.filter(
    source => source.path.startsWith("src/") && lengthOf(source) < 40 && importers.get(source.path)?.length === 1,
  );
  expect(alone.map(({ path }) => path)).toEqual(Object.keys(small));
});

test("no drawers, no crowded folders, and no file over 400 lines", () => {
  const drawer = /(^|\/)(utils?|helpers?|common|lib|misc|types)(\/|\.ts$)/;
  expect(sources.filter(({ path }) => drawer.test(path)).map(({ path }) => path)).toEqual([]);
  expect(sources.filter(source => lengthOf(source) > 400).map(({ path }) => path)).toEqual([]);
  const roots = ["src", "streams", "schemas", "reports", "simulator", "test", "bench"];
  const files = roots.flatMap(folder => globSync(`${folder}/**/*.ts`, { cwd: root }));
  // Each room has a catalog of its messages beside its files.
  const folders = Map.groupBy(
    files.filter(path => !path.endsWith("/messages.ts")),
    path => dirname(path),
  );
  expect([...folders].filter(([, files]) => files.length > 25).map(([folder]) => folder)).toEqual([]);
  expect(folders.get("src")?.length).toBeLessThanOrEqual(15);
});

test("a database is called by its name where one is chosen, and nowhere else: SQL asks the dialect what it can", () => {
  const naming = sources.filter(
    ({ path, text }) =>
      !/^src\/warehouse\/(duckdb|ducklake|postgres)\//.test(path) &&
      /["'`](duckdb|ducklake|postgres)["'`]/.test(withoutComments(text)),
  );
  expect(naming.map(({ path }) => path)).toEqual([
    "src/cli/commands/init.ts",
    "src/config/config.ts",
    "src/config/destination.ts",
    "src/config/messages.ts",
    "src/config/schema.ts",
    "src/outputs/dbt/package.ts",
    "src/outputs/dbt/profile.ts",
    "src/outputs/dbt/readme.ts",
    "src/warehouse/connect/open.ts",
    "src/warehouse/connect/reading.ts",
    "src/warehouse/dialect.ts",
  ]);
  // Rights, locks and foreign keys are PostgreSQL's alone: there is nothing to ask DuckDB.
  const catalogs = sources.filter(
    ({ path, text }) =>
      !/^src\/warehouse\/(duckdb|ducklake|postgres)\//.test(path) &&
      /\bpg_\w+|\bduckdb_\w+\(\)/.test(withoutComments(text)),
  );
  expect(catalogs.map(({ path }) => path)).toEqual([
    "src/warehouse/connect/reading.ts",
    "src/warehouse/ddl/alteration.ts",
    "src/warehouse/ddl/grants.ts",
    "src/warehouse/ddl/rights.ts",
    "src/warehouse/schema/foreign_keys.ts",
    "src/warehouse/schema/foreign_objects.ts",
    "src/warehouse/sql_fragments.ts",
  ]);
  const telling = sources.filter(({ text }) => text.includes("dialect.name"));
  expect(telling.map(({ path }) => path)).toEqual([
    "src/outputs/dictionary/warehouse_sample.ts",
    "src/warehouse/schema/ddl_script.ts",
  ]);
});

function eachImport(complaint: (source: Source, found: Import) => string | undefined): string[] {
  return sources.flatMap(source => source.imports.flatMap(found => complaint(source, found) ?? []));
}

/** The complaint about an import of a room that does not stand below; undefined where there is none. */
function upwards(path: string, to: string): string | undefined {
  const [from, room] = [roomOf(rooms, path), roomOf(rooms, to)];
  if (from === undefined || room === undefined)
    return `${path} imports ${to}: ${dirname(from === undefined ? path : to)}/ has no line in ARCHITECTURE.md's list of rooms`;
  if (rooms.indexOf(room) >= rooms.indexOf(from)) return undefined;
  return `${path} imports ${to}: ${room} stands above ${from} in ARCHITECTURE.md`;
}
