import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { RawAnswer } from "../../../src/source/api.ts";
import { type Line, writeLine } from "../../../src/source/archive/line.ts";
import { packer } from "../../../src/source/archive/piece.ts";
import { linesOf } from "../../../src/source/archive/reading.ts";

/** A folder that is gone when the test is over. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tributary-archive-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** The files below a folder, by their paths in it. */
export async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

/** All lines below a folder, file after file, and what was odd about the files. */
export async function archived(folder: string): Promise<{ lines: Line[]; odd: string[] }> {
  const lines: Line[] = [];
  const odd: string[] = [];
  for (const file of await filesBelow(folder))
    for await (const line of linesOf(join(folder, file), what => void odd.push(what))) lines.push(line);
  return { lines, odd };
}

/** An answer as the client gives it. */
export const answer = (body: string | object, more: Partial<RawAnswer> = {}): RawAnswer => ({
  path: "/things",
  query: { limit: 100 },
  status: 200,
  date: new Date("2026-03-15T12:00:00Z"),
  next: null,
  body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)),
  about: { stream: "things", scan: "s1", full: true, part: 0, parts: 1 },
  ...more,
});

/** Damages the bodies of a stream's lines, as a disk does: what is around them can still be read. */
export async function damage(folder: string, stream: string): Promise<void> {
  for (const file of await filesBelow(folder)) {
    const path = join(folder, file);
    const lines: Line[] = [];
    for await (const { head, body } of linesOf(path, () => undefined)) {
      const damaged = Buffer.from(body);
      if (head.stream === stream) damaged.write("#", 1);
      lines.push({ head, body: damaged });
    }
    await writeFile(path, await packer()(Buffer.concat(lines.flatMap(writeLine))));
  }
}
