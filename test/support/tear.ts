import { open } from "node:fs/promises";

/** Where DuckDB's file has its first block, after three headers. */
const FIRST_BLOCK = 12_288;

/** Leaves a DuckDB file as a kill amid a checkpoint's write may: DuckDB writes blocks of its own anew in their place. */
export async function tear(file: string): Promise<void> {
  const handle = await open(file, "r+");
  try {
    await handle.write("torn".repeat(1024), FIRST_BLOCK);
  } finally {
    await handle.close();
  }
}
