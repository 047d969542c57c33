import { readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { LoadedConfig } from "../../config/load.ts";
import { type CheckLine, warning } from "./line.ts";

/** Shorter ones may stand anywhere by chance. */
const SHORTEST = 6;

/** Whether others may read a secret: written into the configuration itself, or into a `.env` beside it. */
export async function* checkExposure({
  file,
  secrets,
}: Pick<LoadedConfig, "file" | "secrets">): AsyncGenerator<CheckLine> {
  for (const path of [file, join(dirname(file), ".env")]) {
    const found = await stat(path).catch(() => undefined);
    // Rights on Windows are not told by these bits.
    if (found === undefined || (found.mode & 0o044) === 0 || process.platform === "win32") continue;
    const text = await readFile(path, "utf8").catch(() => "");
    if (!secrets.some(secret => secret.length >= SHORTEST && text.includes(secret))) continue;
    const rights = (found.mode & 0o777).toString(8);
    yield warning(
      "secrets",
      `${path} holds a secret in plain, and others on this machine may read it (mode ${rights})`,
      `chmod 600 ${path}, or take the secret from a variable or a file that only this user reads.`,
    );
  }
}
