import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ApiError, LockedError } from "../../../src/errors.ts";
import type { UploadedFile } from "../../../src/operations/upload/upload.ts";
import { watchFolder } from "../../../src/operations/upload/watch.ts";
import { emptyFolder } from "../../cli/process.ts";
import { logTo, sentence } from "../../support/log.ts";

const uploaded = (file: string, more: Partial<UploadedFile> = {}): UploadedFile => ({
  ...{ file, sha256: "", bytes: 1, doc_id: "D", sent_at: null, outcome: "uploaded", error: null, code: null },
  ...{ found: [], exit_code: 0, ...more },
});

/** Watches a folder for so many looks; `look` is called before each. */
async function watched(
  folder: string,
  looks: number,
  { look, send }: { look: (nth: number) => void; send: (files: readonly string[]) => Promise<readonly UploadedFile[]> },
) {
  const stop = new AbortController();
  const pauses: number[] = [];
  const said: string[] = [];
  const moved: string[] = [];
  look(0);
  const clock = {
    now: () => Date.now(),
    async sleep(ms: number) {
      pauses.push(ms);
      if (pauses.length === looks) stop.abort();
      else look(pauses.length);
    },
  };
  await watchFolder(
    {
      folder,
      contentType: undefined,
      send,
      moved: (to, fault) => void moved.push(`${to.slice(folder.length + 1)} ${fault?.code}`),
    },
    { clock, log: logTo(text => said.push(text)), signal: stop.signal },
  );
  return { pauses, said, moved };
}

test("a file is sent when it is as it was at the look before, and moved by what became of it", async () => {
  const folder = emptyFolder();
  const sent: string[][] = [];
  const put = (name: string, content: string) => writeFileSync(join(folder, name), content);
  const { moved } = await watched(folder, 6, {
    look(nth) {
      if (nth === 0) for (const name of ["a.pdf", "b.pdf", "unknown.pdf"]) put(name, "x");
      if (nth < 3) put("growing.pdf", "x".repeat(nth + 1));
      if (nth === 0) put("empty.pdf", "");
      if (nth === 2) put("a.pdf", "another");
    },
    async send(files) {
      sent.push(files.map(file => file.slice(folder.length + 1)));
      return files.map(file =>
        file.includes("unknown")
          ? uploaded(file, { doc_id: null, outcome: "unknown", error: "not known", code: "x.unknown" })
          : uploaded(file),
      );
    },
  });
  expect(sent).toEqual([
    ["a.pdf", "b.pdf", "unknown.pdf"],
    ["a.pdf", "growing.pdf"],
  ]);
  expect(moved).toEqual([
    "done/a.pdf undefined",
    "done/b.pdf undefined",
    "failed/unknown.pdf x.unknown",
    "done/2-a.pdf undefined",
    "done/growing.pdf undefined",
  ]);
  expect(readdirSync(folder).toSorted()).toEqual(["done", "empty.pdf", "failed"]);
});

test("while another run is at work or the service away files stay; a refused key ends it", async () => {
  const folder = emptyFolder();
  mkdirSync(join(folder, "done"));
  writeFileSync(join(folder, "a.pdf"), "x");
  const answers: unknown[] = [
    new LockedError(sentence("Locked by a run.")),
    new ApiError(sentence("Away."), { failure: "unavailable", path: "/x" }),
    [{ doc_id: null, outcome: "stopped", error: "A limit." }],
  ];
  const send = async ([file]: readonly string[]) => {
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return (answer as Partial<UploadedFile>[]).map(more => uploaded(file!, more));
  };
  const { pauses, said } = await watched(folder, 4, { look: () => undefined, send });
  expect(pauses).toEqual([2_000, 30_000, 30_000, 30_000]);
  expect(said).toEqual(
    ["Locked by a run.", "Away.", "A limit."].map(why => `${why} The files stay where they are until then.`),
  );
  expect(readdirSync(folder)).toContain("a.pdf");
  answers.push(new ApiError(sentence("Refused."), { failure: "unauthorized", path: "/x" }));
  await expect(watched(folder, 4, { look: () => undefined, send })).rejects.toThrow("Refused.");
});

test("a file that somebody takes back meanwhile is no failure", async () => {
  const folder = emptyFolder();
  writeFileSync(join(folder, "a.pdf"), "x");
  const { moved } = await watched(folder, 3, {
    look: () => undefined,
    async send([file]) {
      rmSync(file!);
      return [uploaded(file!)];
    },
  });
  expect(moved).toEqual(["done/a.pdf undefined"]);
});
