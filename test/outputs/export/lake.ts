import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** An empty folder that is gone when the test is over. */
export async function lake(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tributary-export-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return join(folder, "lake");
}
