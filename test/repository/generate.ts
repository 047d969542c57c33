import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DATA_VERSION } from "../../src/warehouse/state/state_ddl.ts";
import { groups, streams } from "../../streams/index.ts";
import { namesFile } from "../schemas/names_file.ts";
import { apiPage } from "./api_page.ts";
import { cataloguePage } from "./catalogue_page.ts";
import { withCounts } from "./counts.ts";
import { messagesPage } from "./messages_page.ts";
import { modelColumnsFile } from "./model_columns.ts";
import { pageReaderFile } from "./page_reader.ts";
import { root } from "./sources.ts";
import { statePage, stateTablesFile } from "./state_page.ts";

/*
 * npm run generate: writes every file that can be worked out from other files. With --check it writes nothing, names the
 * files that are out of date and ends with 1. A test holds each file against the same functions.
 */

export interface Generated {
  readonly path: string;
  readonly from: string;
  /** What the file has to be; `present` is what it is now. */
  readonly make: (present: string) => string | Promise<string>;
}

export const generated: readonly Generated[] = [
  { path: "docs/streams.md", from: "the catalogue in streams/", make: () => cataloguePage(groups) },
  { path: "docs/api.md", from: "the comments in src/library/", make: apiPage },
  { path: "docs/messages.md", from: "the catalogs of messages in src/", make: messagesPage },
  { path: "docs/state-tables.md", from: "the comments of the state tables", make: statePage },
  {
    path: `test/warehouse/state/version_${DATA_VERSION}.sql`,
    from: "the state tables",
    make: stateTablesFile,
  },
  { path: "models/columns.json", from: "the models' selects", make: modelColumnsFile },
  { path: "src/rows/page_reader_wasm.ts", from: "the sources in reader/", make: pageReaderFile },
  ...["README.md", "docs/tables.md"].map(path => ({
    path,
    from: "the catalogue: its counts of streams and tables",
    make: (page: string) => withCounts(page, streams),
  })),
  {
    path: "test/schemas/names.ts",
    from: "the catalogue: names are added, never taken out",
    make: () => namesFile(streams),
  },
];

export interface Outcome {
  readonly path: string;
  readonly present: string;
  readonly expected: string;
}

export async function outcomeOf({ path, make }: Generated): Promise<Outcome> {
  const present = await readFile(join(root, path), "utf8");
  return { path, present, expected: await make(present) };
}

if (process.argv[1] === import.meta.filename) {
  const check = process.argv.includes("--check");
  for (const { path, present, expected } of await Promise.all(generated.map(outcomeOf))) {
    if (present === expected) continue;
    console.log(check ? `${path} is out of date: npm run generate` : `${path} written`);
    if (check) process.exitCode = 1;
    else await writeFile(join(root, path), expected);
  }
}
