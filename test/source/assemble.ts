import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import openWabt from "wabt";

/* npm run wasm: makes src/source/body_wasm.ts of src/source/body.wat. */

const folder = join(import.meta.dirname, "../../src/source");

/** What src/source/body_wasm.ts has to be. */
export async function assembled(): Promise<string> {
  const wabt = await openWabt();
  const source = wabt.parseWat("body.wat", await readFile(join(folder, "body.wat"), "utf8"), { simd: true });
  const base64 = Buffer.from(source.toBinary({}).buffer).toString("base64");
  return `/** body.wat, assembled. */\nexport const bodyWasm =\n  "${base64}";\n`;
}

if (process.argv[1] === import.meta.filename) await writeFile(join(folder, "body_wasm.ts"), await assembled());
