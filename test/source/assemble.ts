import { readFile } from "node:fs/promises";
import { join } from "node:path";
import openWabt from "wabt";

const folder = join(import.meta.dirname, "../../src/source");

/** What src/source/body_wasm.ts has to be: src/source/body.wat, assembled. */
export async function assembled(): Promise<string> {
  const wabt = await openWabt();
  const source = wabt.parseWat("body.wat", await readFile(join(folder, "body.wat"), "utf8"), { simd: true });
  const base64 = Buffer.from(source.toBinary({}).buffer).toString("base64");
  return `/** body.wat, assembled. */\nexport const bodyWasm =\n  "${base64}";\n`;
}
