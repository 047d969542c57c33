import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { zstdDecompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { createRedactor } from "../../../src/secrets.ts";
import type { RawAnswer } from "../../../src/source/api.ts";
import { openArchive } from "../../../src/source/archive/archive.ts";
import type { Line } from "../../../src/source/archive/line.ts";
import { filesIn, folderOf } from "../../../src/source/archive/places.ts";
import { pruneArchive } from "../../../src/source/archive/pruning.ts";
import { rewriteArchive } from "../../../src/source/archive/rewriting.ts";
import { answer, archived, filesBelow, temporaryFolder } from "./folder.ts";

const clock = { now: () => Date.parse("2026-03-15T12:00:01Z") };
const run = "20260315T120000-0a1b2c3d";

interface Opening {
  readonly onError?: "fail" | "warn";
  readonly largest?: number;
  readonly secrets?: string[];
  readonly path?: string;
}

async function opened(more: Opening = {}) {
  const folder = more.path ?? (await temporaryFolder());
  const redact = createRedactor(more.secrets ?? []);
  const tools = {
    company: "acme",
    run,
    clock,
    redact,
    ...(more.largest === undefined ? {} : { largest: more.largest }),
  };
  return {
    folder,
    archive: openArchive({ path: folder, onError: more.onError ?? "fail" }, tools),
  };
}

test("a line says who asked for what, when, and what came", async () => {
  const { folder, archive } = await opened();
  const about = { stream: "details", scan: "s2", parent: { key: "P/1", hash: "-77", params: { id: "P/1" } } };
  archive.keep(
    answer('{"data":{"n":1.10}}', { path: "/things/P%2F1", query: { body: "x", a: true }, about, next: "c" }),
  );
  await archive.kept("details");
  expect(await filesBelow(folder)).toEqual([`acme/details/${run}.ndjson.zst`]);
  const text = zstdDecompressSync(await readFile(join(folder, "acme", "details", `${run}.ndjson.zst`))).toString();
  expect(text).toBe(
    `{"v":1,"at":"2026-03-15T12:00:01.000Z","run":"${run}","company":"acme","full":false,"stream":"details","scan":"s2",` +
      '"parent":{"key":"P/1","hash":"-77","params":{"id":"P/1"}},' +
      '"request":{"path":"/things/P%2F1","query":{"body":"x","a":true}},"status":200,"date":"2026-03-15T12:00:00.000Z","next":"c",' +
      '"body":{"data":{"n":1.10}}}\n',
  );
  const { lines } = await archived(folder);
  expect(lines[0]).toMatchObject({ head: { ...about, request: { query: { body: "x" } }, next: "c" } });
  expect(lines[0]!.body.toString()).toBe('{"data":{"n":1.10}}');
  const modes = ["acme", "acme/details", `acme/details/${run}.ndjson.zst`].map(
    async path => (await stat(join(folder, path))).mode & 0o777,
  );
  expect(await Promise.all(modes)).toEqual([0o700, 0o700, 0o600]);
  await archive.close();
});

test("kept are answers that tables are made from, and 404s that say what is gone; nothing else", async () => {
  const { folder, archive } = await opened();
  const keep = (name: string, more: Partial<RawAnswer>, about: object) =>
    archive.keep(answer({ data: name }, { ...more, about: { stream: "things", scan: name, ...about } }));
  keep("page", {}, {});
  keep("gone", { status: 404 }, { confirms: true });
  keep("no detail", { status: 404 }, { parent: { key: "1", hash: "2", params: {} } });
  keep("unknown", { status: 404 }, { context: { id: "1" } });
  keep("still there", {}, { confirms: true });
  keep("no list", { status: 404 }, {});
  archive.keep(answer({ data: "for nobody" }, { about: undefined }));
  await archive.close();
  expect((await archived(folder)).lines.map(line => line.head.scan)).toEqual(["page", "gone", "no detail", "unknown"]);
});

test("a mark of the byte order and line breaks between values are left out, bytes of no character are kept", async () => {
  const { folder, archive } = await opened();
  const odd = Buffer.concat([Buffer.from('{"data":"'), Buffer.from([0xe9]), Buffer.from('"}')]);
  archive.keep(answer('\uFEFF{"data":\r\n1}'));
  archive.keep(answer("", { body: odd }));
  await archive.close();
  const { lines } = await archived(folder);
  expect(lines.map(({ body }) => body.toString("latin1"))).toEqual(['{"data":  1}', odd.toString("latin1")]);
});

test("no secret is in any byte, in names of fields and of files included", async () => {
  const { folder, archive } = await opened({ secrets: ["sk_live_1234"] });
  const about = { stream: "things", scan: "s", context: { id: "sk_live_1234" } };
  archive.keep(
    answer({ data: { a: "sk_live_1234", api_key: "other", sk_live_1234: 1 } }, { query: { q: "sk_live_1234" }, about }),
  );
  await archive.close();
  const [file] = await filesBelow(folder);
  const text = zstdDecompressSync(await readFile(join(folder, file!))).toString();
  expect(text).not.toMatch(/sk_live_1234|other|api_key/);
  expect(text).toContain('"a":"•••"');
});

test("lines of before kept are on the disk when it resolves", async () => {
  const { folder, archive } = await opened();
  for (let nth = 0; nth < 5; nth++) {
    for (let line = 0; line < 40; line++) archive.keep(answer({ data: `${nth} ${line} ${"x".repeat(line)}` }));
    await archive.kept("things");
    expect((await archived(folder)).lines).toHaveLength(40 * (nth + 1));
  }
  await archive.close();
});

test("of a large file that is damaged in its middle every line is read that stands before, each once", async () => {
  const { folder, archive } = await opened();
  const noise = (nth: number) => createHash("sha512").update(`${nth}`).digest("hex").repeat(2);
  for (let nth = 0; nth < 3_000; nth++) {
    archive.keep(answer({ data: nth, noise: noise(nth) }, { query: { nth } }));
    if (nth % 50 === 0) await archive.kept("things");
  }
  await archive.close();
  const file = join(folder, (await filesBelow(folder))[0]!);
  const bytes = await readFile(file);
  expect(bytes.length).toBeGreaterThan(200_000);
  const at = 150_000;
  await writeFile(file, bytes.fill("damage", at, at + 5_000));
  const { lines, odd } = await archived(folder);
  expect(odd).toHaveLength(1);
  expect(lines.map(({ head }) => head.request.query["nth"])).toEqual(lines.map((_, nth) => nth));
  // Bytes of a line before damage, by the file's own share; what stood in its last steps and piece is lost.
  expect(lines.length).toBeGreaterThan((3_000 * (at - 30_000)) / bytes.length);
  expect(lines.length).toBeLessThan((3_000 * (at + 30_000)) / bytes.length);
});

test("a file that is full is followed by another, and they are read in their order", async () => {
  const { folder, archive } = await opened({ largest: 2_000 });
  for (let nth = 0; nth < 12; nth++) {
    archive.keep(answer({ data: nth, noise: Array.from({ length: 400 }, (_, i) => (i * 7919 * (nth + 1)) % 10_007) }));
    await archive.kept("things");
  }
  await archive.close();
  const files = await filesBelow(folder);
  expect(files.length).toBeGreaterThan(3);
  expect(files).toContain(`acme/things/${run}.2.ndjson.zst`);
  const order = await filesIn(join(folder, "acme", "things"));
  expect(order.map(({ nth }) => nth)).toEqual(order.map((_, i) => i + 1));
});

test("answers of several streams that are kept side by side come apart; files are rewritten line by line", async () => {
  const folder = await temporaryFolder();
  const noise = (stream: string, nth: number) =>
    Array.from({ length: 40_000 }, (_, i) => (i * 7919 * (nth + stream.length)) % 10_007);
  const { archive } = await opened({ path: folder });
  for (let nth = 0; nth < 12; nth++)
    for (const stream of ["things", "parts", "details"]) {
      archive.keep(answer({ data: { stream, nth, noise: noise(stream, nth) } }, { about: { stream, scan: "s" } }));
      if (nth % 5 === 4) void archive.kept(stream);
    }
  await archive.close();
  const files = await filesBelow(folder);
  const ofLine = ({ head, body }: Line) => {
    const { stream, nth, noise: its } = JSON.parse(body.toString()).data;
    expect([head.stream, its]).toEqual([stream, noise(stream, nth)]);
    return `${stream} ${nth}`;
  };
  const before = (await archived(folder)).lines.map(ofLine);
  expect(new Set(before).size).toBe(36);
  const changed = await rewriteArchive(
    folder,
    "p1",
    privacy => privacy !== "p1",
    () => undefined,
  );
  expect(changed).toBe(3);
  const after = await archived(folder);
  expect(after.odd).toEqual([]);
  expect(after.lines.map(ofLine)).toEqual(before);
  expect(new Set(after.lines.map(({ head }) => head.privacy))).toEqual(new Set(["p1"]));
  expect(await filesBelow(folder)).toEqual(files);
});

test("a folder that another run took away is made again for the next file", async () => {
  const { folder, archive } = await opened({ largest: 10 });
  archive.keep(answer({ data: 1 }));
  await archive.kept("things");
  await rm(join(folder, "acme"), { recursive: true });
  archive.keep(answer({ data: 2 }));
  await archive.kept("things");
  await archive.close();
  expect(await filesBelow(folder)).toEqual([`acme/things/${run}.2.ndjson.zst`]);
});

test("names that are no file names get a folder of their own in the archive", async () => {
  const folder = await temporaryFolder();
  const names = ["..", ".", "a/b", "a\\b", "A", "ä", "x".repeat(400), `${"x".repeat(399)}y`, "con:*?"];
  const folders = names.map(name => folderOf(folder, name, "s"));
  expect(new Set(folders).size).toBe(names.length);
  for (const path of folders) {
    expect(path.slice(folder.length + 1)).toMatch(/^[\w%.-]{1,110}\/s$/);
    expect(path.slice(folder.length + 1)).not.toMatch(/^\.\.?\//);
  }
});

test("an archive that cannot be written fails the stream, or is told once and left alone", async () => {
  const file = join(await temporaryFolder(), "taken");
  await writeFile(file, "");
  const strict = await opened({ path: join(file, "archive") });
  strict.archive.keep(answer({ data: 1 }));
  const reason = expect.stringContaining("ENOTDIR");
  for (let time = 0; time < 2; time++)
    await expect(strict.archive.kept("things")).rejects.toMatchObject({
      exitCode: 1,
      code: "archive.not_written",
      fields: { stream: "things", reason },
    });
  expect(await strict.archive.kept("others")).toBeUndefined();
  const lenient = await opened({ path: join(file, "archive"), onError: "warn" });
  lenient.archive.keep(answer({ data: 1 }));
  expect(await lenient.archive.kept("things")).toMatchObject({ code: "archive.incomplete", fields: { reason } });
  lenient.archive.keep(answer({ data: 2 }));
  expect(await lenient.archive.kept("things")).toBeUndefined();
  await Promise.all([strict.archive.close(), lenient.archive.close()]);
});

test("files of runs that began too long ago are removed, empty folders too, strangers never", async () => {
  const folder = await temporaryFolder();
  const write = async (path: string) => {
    await mkdir(join(folder, path, ".."), { recursive: true });
    await writeFile(join(folder, path), "x");
    await utimes(join(folder, path), 0, 0);
  };
  const old = "20260101T000000-00000000.ndjson.zst";
  for (const path of [
    `acme/things/${old}`,
    `acme/things/${old.replace(".nd", ".2.nd")}`,
    `acme/things/${run}.ndjson.zst`,
    `beta/things/${old}`,
  ])
    await write(path);
  const strange = ["acme/notes/read.me", `${old}`, `acme/${old}`, `acme/things/x${old}`, `acme/things/deeper/${old}`];
  for (const path of strange) await write(path);
  expect(await pruneArchive(folder, Date.parse("2026-03-01"))).toBe(3);
  expect(await filesBelow(folder)).toEqual([...strange, `acme/things/${run}.ndjson.zst`].sort());
  expect(await pruneArchive(join(folder, "nowhere"), Date.now())).toBe(0);
  await expect(stat(join(folder, "beta"))).rejects.toThrow(/ENOENT/);
});

test("so are those of a company or stream whose folder is a link to another disk; the link stays", async () => {
  const [folder, disk] = [await temporaryFolder(), await temporaryFolder()];
  const old = "20260101T000000-00000000.ndjson.zst";
  for (const path of ["acme/things", "parts"]) {
    await mkdir(join(disk, path), { recursive: true });
    await writeFile(join(disk, path, old), "x");
  }
  await symlink(join(disk, "acme"), join(folder, "acme"));
  await mkdir(join(folder, "beta"));
  await symlink(join(disk, "parts"), join(folder, "beta", "parts"));
  await symlink(join(disk, "nowhere"), join(folder, "beta", "lost"));
  expect(await pruneArchive(folder, Date.parse("2026-03-01"))).toBe(2);
  expect(await filesBelow(disk)).toEqual([]);
  expect((await readdir(folder)).sort()).toEqual(["acme", "beta"]);
});
