import { readFile } from "node:fs/promises";
import { join } from "node:path";
import asc from "assemblyscript/asc";
import { root } from "./sources.ts";

const head = "/** What reader/ is compiled to, by `npm run generate`. */\nexport const PAGE_READER =";

/** The text of src/rows/page_reader_wasm.ts. The same sources give the same bytes, on whatever machine. */
export async function pageReaderFile(): Promise<string> {
  const options = [
    "--outFile",
    "reader.wasm",
    "-O3",
    "--noAssert",
    "--runtime",
    "stub",
    "--initialMemory",
    "4",
    "--enable",
    "simd",
  ];
  let compiled: Uint8Array = new Uint8Array();
  const { error, stderr } = await asc.main(["reader/main.ts", ...options], {
    readFile: path => readFile(join(root, path), "utf8").catch(() => null),
    writeFile: (_, bytes) => {
      if (typeof bytes !== "string") compiled = bytes;
    },
    listFiles: () => [],
  });
  if (error !== null) throw new Error(`reader/ can't be compiled: ${stderr.toString()}`, { cause: error });
  const lines =
    Buffer.from(compiled)
      .toString("base64")
      .match(/.{1,112}/g) ?? [];
  return `${head}\n${lines.map(line => `  "${line}"`).join(" +\n")};\n`;
}
