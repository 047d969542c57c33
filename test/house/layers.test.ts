import { expect, test } from "vitest";
import { type HouseMap, LEAVES, readMap } from "./map.ts";
import { type Import, packages, type Source, sourcesIn } from "./sources.ts";

const map = readMap();
const sources = sourcesIn("src", "streams", "schemas", "reports", "simulator").filter(
  ({ path }) => !path.startsWith("simulator/test/"),
);
const engine = sources.filter(({ path }) => path.startsWith("src/") && !path.startsWith("src/cli/"));
const withoutLeaves = ["streams/", "schemas/", "simulator/"];

test("the map's imports lead down", () => {
  const order = map.rooms.map(room => room.name);
  const up = map.rooms.flatMap(({ name, mayImport }, floor) =>
    mayImport.filter(({ room }) => order.indexOf(room) <= floor).map(({ room }) => `${name} → ${room}`),
  );
  expect(up).toEqual([]);
});

test("every file has a room, and rooms import only what the map allows", () => {
  expect(sources.filter(({ path }) => map.roomOf(path) === undefined).map(({ path }) => path)).toEqual([]);
  expect(eachImport((source, found) => (found.isPackage ? undefined : brokenRule(map, source.path, found)))).toEqual(
    [],
  );
});

test("a broken rule is named with file, import and rule", () => {
  const broken = (path: string, to: string, typesOnly = false) =>
    brokenRule(map, path, { to, typesOnly, isPackage: false });
  expect(broken("src/api/client.ts", "src/run.ts")).toBe(
    "src/api/client.ts imports src/run.ts: src/api/ may not import src/run/",
  );
  expect(broken("src/extract/listing.ts", "src/destinations/destination.ts")).toBe(
    "src/extract/listing.ts imports src/destinations/destination.ts: src/extract/ may import only types of src/destinations/",
  );
  expect(broken("simulator/random.ts", "src/errors.ts")).toMatch(/simulator\/ may not import leaves/);
  expect(broken("src/sync.ts", "src/destinations/postgres/locks.ts")).toMatch(/src\/sync\/ may not import/);
  expect(broken("src/errors.ts", "src/clock.ts")).toMatch(/leaves may not import leaves/);
  expect(broken("src/extract/listing.ts", "src/destinations/destination.ts", true)).toBeUndefined();
});

test("no file imports itself over others when the types are gone", () => {
  const next = new Map(
    sources.map(({ path, imports }) => [path, imports.filter(found => !found.typesOnly).map(found => found.to)]),
  );
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

test("the map lists the packages of package.json, and only their places import them", () => {
  const { runtime, development } = packages();
  expect([...map.packages.keys()].sort()).toEqual([...runtime, ...development].sort());
  const shipped = [...map.packages].filter(([, where]) => where.length > 0).map(([name]) => name);
  expect(shipped).toEqual(expect.arrayContaining([...runtime]));
  const strangers = eachImport(({ path }, { to, isPackage }) => {
    const where = map.packages.get(to) ?? [];
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
        const word = trade.exec(path.startsWith("src/config/") ? line.replace(defaults, "") : line)?.[0];
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
  expect(barrels.map(({ path }) => path)).toEqual([]);
});

test("no drawers, and no file over 300 lines", () => {
  const drawer = /(^|\/)(utils?|helpers?|common|lib|misc|types)(\/|\.ts$)/;
  expect(sources.filter(({ path }) => drawer.test(path)).map(({ path }) => path)).toEqual([]);
  const long = sources.map(({ path, text }) => ({ path, lines: text.split("\n").length - 1 }));
  expect(long.filter(({ lines }) => lines > 300)).toEqual([]);
});

/** Comments become empty, line by line; a `//` within a line of code stays, as in an address. */
function withoutComments(text: string): string {
  return text
    .replace(/\/\*[\s\S]*?\*\//g, comment => comment.replace(/[^\n]/g, ""))
    .replace(/^\s*\/\/.*$|\s\/\/ .*$/gm, "");
}

function eachImport(complaint: (source: Source, found: Import) => string | undefined): string[] {
  return sources.flatMap(source => source.imports.flatMap(found => complaint(source, found) ?? []));
}

function brokenRule({ roomOf, rooms }: HouseMap, path: string, { to, typesOnly }: Import): string | undefined {
  const from = roomOf(path);
  const room = roomOf(to);
  if (from === undefined || room === undefined || (from === room && from !== LEAVES)) return undefined;
  const allowed = rooms.find(({ name }) => name === from)?.mayImport.find(({ room: name }) => name === room);
  const open = room === LEAVES && from !== LEAVES && !withoutLeaves.includes(from);
  if (open || allowed?.typesOnly === false || (allowed !== undefined && typesOnly)) return undefined;
  const rule = allowed === undefined ? `may not import ${room}` : `may import only types of ${room}`;
  return `${path} imports ${to}: ${from} ${rule}`;
}
