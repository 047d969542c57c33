/* Appends to a stage until it is killed: batches of 40 rows, and every ninth time a new scan. Says when the first is stored. */
import { openStage } from "../../../src/warehouse/duckdb/stage/stage.ts";
import { gadgets, plainBatch } from "./gadgets.ts";

const stage = await openStage(process.argv[2]!, "acme", gadgets);
let { scan, rows } = (stage.record as { scan: number; rows: number } | undefined) ?? { scan: 0, rows: 0 };
for (let turn = 1; ; turn++) {
  if (stage.record === undefined || turn % 9 === 0) {
    scan++;
    rows = 0;
    await stage.begin({ scan, rows });
  }
  rows += 40;
  await stage.append(plainBatch(rows - 39, 40), { scan, rows });
  if (turn === 1) process.stdout.write("appending\n");
}
