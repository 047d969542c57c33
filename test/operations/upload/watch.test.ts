import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ApiError, LockedError } from "../../../src/errors.ts";
import type { UploadedFile } from "../../../src/operations/upload/upload.ts";
import { watchFolder } from "../../../src/operations/upload/watch.ts";
import { emptyFolder } from "../../cli/process.ts";
import { logTo, sentence } from "../../support/log.ts";
import { sha256 } from "./place.ts";

const uploaded = (file: string, more: Partial<UploadedFile> = {}): UploadedFile => ({
  ...{
    file,
    sha256: sha256(readFileSync(file, "utf8")),
    bytes: 1,
    doc_id: "D",
    sent_at: null,
    outcome: "uploaded",
    error: null,
    code: null,
  },
  ...{ found: [], exit_code: 0, ...more },
});

/** Watches a folder for so many looks; `look` is called before each. */
async function watched(
  folder: string,
  looks: number,
  {
    look,
    send,
  }: { look: (nth: number) => unknown; send: (files: readonly string[]) => Promise<readonly UploadedFile[]> },
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
      ...{ contentType: undefined, guarded: [join(folder, "config.csv")] },
      async send(files, through) {
        for (const sent of await send(files)) await through(sent);
      },
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
      sent.push(files.map(file => file.slice(folder.length + "/sending/".length)));
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
  expect(readdirSync(folder).toSorted()).toEqual(["done", "empty.pdf", "failed", "sending"]);
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
    ["Locked by a run.", "Away.", "A limit."].map(why => `${why} The files wait in the folder until then.`),
  );
  expect(readdirSync(join(folder, "sending"))).toEqual(["a.pdf"]);
  answers.push(new ApiError(sentence("Refused."), { failure: "unauthorized", path: "/x" }));
  await expect(watched(folder, 4, { look: () => undefined, send })).rejects.toThrow("Refused.");
});

test("a file that somebody takes back meanwhile is no failure", async () => {
  const folder = emptyFolder();
  writeFileSync(join(folder, "a.pdf"), "x");
  const { moved } = await watched(folder, 3, {
    look: () => undefined,
    async send([file]) {
      const sent = uploaded(file!);
      rmSync(file!);
      return [sent];
    },
  });
  expect(moved).toEqual(["done/a.pdf undefined"]);
});

test("a file that takes the name of one that is being sent is a new file, and is sent after it", async () => {
  const folder = emptyFolder();
  const sent: string[] = [];
  const { moved } = await watched(folder, 7, {
    look: nth => nth === 0 && writeFileSync(join(folder, "a.pdf"), "first"),
    async send([file]) {
      if (sent.push(readFileSync(file!, "utf8")) === 1) writeFileSync(join(folder, "a.pdf"), "second");
      return [uploaded(file!)];
    },
  });
  expect(sent).toEqual(["first", "second"]);
  expect(moved).toEqual(["done/a.pdf undefined", "done/2-a.pdf undefined"]);
  expect(readFileSync(join(folder, "done/2-a.pdf"), "utf8")).toBe("second");
});

test("what a program that has a file open writes to it while it is sent goes back to the folder, and is sent", async () => {
  const folder = emptyFolder();
  const sent: string[] = [];
  const { moved } = await watched(folder, 7, {
    look: nth => nth === 0 && writeFileSync(join(folder, "a.pdf"), "first"),
    async send([file]) {
      const outcome = uploaded(file!);
      if (sent.push(readFileSync(file!, "utf8")) === 1) writeFileSync(file!, "written over");
      return [outcome];
    },
  });
  expect(sent).toEqual(["first", "written over"]);
  expect(moved).toEqual(["a.pdf undefined", "done/a.pdf undefined"]);
  expect(readdirSync(folder).toSorted()).toEqual(["done", "failed", "sending"]);
});

test("each file is moved when it is through, and one that a killed watch had begun is sent by the next", async () => {
  const folder = emptyFolder();
  const files = ["a.pdf", "b.pdf"];
  const stop = new AbortController();
  const send = async (given: readonly string[], through: (sent: UploadedFile) => Promise<void>) => {
    await through(uploaded(given[0]!));
    expect(readdirSync(join(folder, "done"))).toEqual(["a.pdf"]);
    throw new Error("killed");
  };
  for (const name of files) writeFileSync(join(folder, name), name);
  const clock = { now: () => Date.now(), sleep: async () => undefined };
  const place = { folder, send, moved: () => undefined, contentType: undefined, guarded: [] };
  await expect(watchFolder(place, { clock, log: logTo(() => undefined), signal: stop.signal })).rejects.toThrow(
    "killed",
  );
  expect(readdirSync(join(folder, "sending"))).toEqual(["b.pdf"]);
  const { moved } = await watched(folder, 3, {
    look: () => undefined,
    send: async given => given.map(file => uploaded(file)),
  });
  expect(moved).toEqual(["done/b.pdf undefined"]);
});

test("hidden files and tributary's own are left where they are, other kinds of files are put aside", async () => {
  const folder = emptyFolder();
  for (const name of [".env", "config.csv", "run.sh", "a.pdf"]) writeFileSync(join(folder, name), "x");
  const { moved } = await watched(folder, 4, {
    look: () => undefined,
    send: async given => given.map(file => uploaded(file)),
  });
  expect(moved.toSorted()).toEqual(["done/a.pdf undefined", "failed/run.sh upload.not_a_document"]);
  expect(readdirSync(folder).toSorted()).toEqual([".env", "config.csv", "done", "failed", "sending"]);
});

test("a folder that is away for a while is waited for, and not made anew", async () => {
  const folder = join(emptyFolder(), "share");
  mkdirSync(folder);
  const away = `${folder}-away`;
  const { pauses, moved } = await watched(folder, 6, {
    look(nth) {
      if (nth === 1) renameSync(folder, away);
      if (nth === 2) renameSync(away, folder);
      if (nth === 2) writeFileSync(join(folder, "a.pdf"), "x");
    },
    send: async given => given.map(file => uploaded(file)),
  });
  expect(pauses.slice(0, 3)).toEqual([2_000, 30_000, 2_000]);
  expect(moved).toEqual(["done/a.pdf undefined"]);
});
