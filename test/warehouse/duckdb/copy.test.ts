import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test, vi } from "vitest";
import { temporaryFolder } from "./workbench.ts";

const module = join(import.meta.dirname, "../../../src/warehouse/duckdb/versions/copy.ts");

/** A program in a group of its own amid a copy: that of a pipe, which lasts until somebody opens it for writing. */
async function copying() {
  const folder = await temporaryFolder();
  const [from, to] = [join(folder, "pipe"), join(folder, "copy")];
  execFileSync("mkfifo", [from]);
  const program = `
    process.on("SIGINT", () => console.log("heard"));
    import(${JSON.stringify(module)})
      .then(copy => copy.copyDatabase(${JSON.stringify(from)}, ${JSON.stringify(to)}, 0o444))
      .then(() => console.log("copied"), error => console.log(error.message));`;
  const parent = spawn(process.execPath, ["-e", program], { detached: true, stdio: ["ignore", "pipe", "inherit"] });
  const group = -(parent.pid ?? 0);
  onTestFinished(() => void (parent.exitCode ?? process.kill(group, "SIGKILL")));
  await vi.waitFor(() => expect(readFileSync(`/proc/${-group}/task/${-group}/children`, "utf8")).not.toBe(""), 30_000);
  return { parent, group, from, to };
}

test("Ctrl-C on a terminal, which every process of the group is told, doesn't keep the run from its copy", async () => {
  const { parent, group, from, to } = await copying();
  process.kill(group, "SIGINT");
  const end = await open(from, "r+");
  const [said] = await Promise.all([text(parent.stdout), once(parent, "close")]);
  await end.close();
  expect(said).toBe("heard\ncopied\n");
  expect(existsSync(to)).toBe(true);
});
