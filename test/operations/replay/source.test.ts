import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { requestKey } from "../../../src/operations/replay/archive_contents.ts";
import { archivedApi } from "../../../src/operations/replay/source.ts";
import { lineOf } from "../../../src/source/archive/line.ts";
import { packer } from "../../../src/source/archive/piece.ts";
import { answer, temporaryFolder } from "../../source/archive/folder.ts";

test("a run's answers can be more than a call may have arguments", async () => {
  const run = "20260315T120000-00000001";
  const origin = { run, company: "acme", at: "2026-03-15T12:00:00.000Z", privacy: "" };
  const line = lineOf(answer({ data: { id: 7 } }), { stream: "things", scan: "s1" }, origin, text => text)!;
  const path = join(await temporaryFolder(), `${run}.ndjson.zst`);
  await writeFile(path, await packer()(Buffer.concat(line)));
  const others = Array.from({ length: 300_000 }, (_, nth) => [`other ${nth}`, nth + 1] as const);
  const wanted = new Map([[requestKey("/things", {}), 0] as const, ...others]);
  const api = archivedApi({ files: [{ path, run, nth: 1 }] }, wanted);
  expect((await api.get("/things", { limit: 100 })).data).toEqual({ id: 7 });
  await api.close();
});
