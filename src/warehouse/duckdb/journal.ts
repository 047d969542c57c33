import { open, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { codeOf, entryAt, replaceFile, syncFolder } from "../../files.ts";
import type { Journal } from "../destination.ts";
import { attempting } from "./session/failure.ts";
import type { Layout } from "./session/file_layout.ts";
import { damagedFile } from "./versions/versions.ts";

/** Lines beside the work file, which stay when a damaged one is replaced by an older version. */
export function openJournal(layout: Layout): Journal {
  const path = join(layout.home, "uploads.ndjson");
  let isTorn = false;
  return {
    path,
    async lines() {
      const text = await attempting(`read ${path}`, () =>
        readFile(path, "utf8").catch(error => {
          if (codeOf(error) === "ENOENT") return undefined;
          throw error;
        }),
      );
      // The last line of a killed process may lack its end: it was never durable.
      isTorn = text !== undefined && text !== "" && !text.endsWith("\n");
      return text?.split("\n").filter(line => line !== "");
    },
    append: line =>
      attempting(`write ${path}`, async () => {
        const isNew = (await entryAt(path)) === undefined;
        const handle = await open(path, "a", 0o600);
        const text = `${isTorn ? "\n" : ""}${line}\n`;
        isTorn = true;
        try {
          await handle.writeFile(text);
          await handle.datasync();
          isTorn = false;
        } finally {
          await handle.close();
        }
        if (isNew) await syncFolder(dirname(path));
      }),
    replace: lines =>
      attempting(`write ${path}`, async () => {
        await replaceFile(path, lines.map(line => `${line}\n`).join(""));
        isTorn = false;
      }),
    isAfterDamage: async () => (await entryAt(damagedFile(layout))) !== undefined,
  };
}
