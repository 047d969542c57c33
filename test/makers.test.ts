import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cliMessages } from "../src/cli/invocation/messages.ts";
import { generalMessages, makers } from "../src/messages.ts";
import { root } from "./repository/sources.ts";

const page = (path: string): string => readFileSync(join(root, path), "utf8").replaceAll(/\s+/g, " ");

test("messages, pages and package.json name the same address of the makers, and none where there is none", () => {
  for (const { message } of [cliMessages.bug.example, generalMessages.bug.example])
    expect(message).toContain(makers.bugs);
  expect(page("docs/running.md")).toContain(makers.bugs);
  expect(page("SECURITY.md")).toContain(makers.vulnerabilities);
  const { repository, bugs, homepage } = JSON.parse(page("package.json"));
  expect({ repository, bugs, homepage }).toEqual(
    makers.repository === undefined
      ? { repository: undefined, bugs: undefined, homepage: undefined }
      : {
          repository: { type: "git", url: `git+${makers.repository}.git` },
          bugs: `${makers.repository}/issues`,
          homepage: expect.stringContaining(makers.repository),
        },
  );
});
