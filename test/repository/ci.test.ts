import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";

/** Runs `.ci/run` with an npm that does nothing but answer to `audit`. */
function ci(audit: string) {
  const folder = mkdtempSync(join(tmpdir(), "ci-"));
  const npm = join(folder, "npm");
  writeFileSync(npm, `#!/bin/sh\n[ "$1" = audit ] || exit 0\n${audit}\n`);
  chmodSync(npm, 0o755);
  const PATH = `${folder}${delimiter}${process.env["PATH"]}`;
  const { status, stderr } = spawnSync(join(import.meta.dirname, "../../.ci/run"), {
    env: { ...process.env, PATH },
    encoding: "utf8",
  });
  return { status, stderr };
}

test.each([
  ["none is known", `echo '{ "auditReportVersion": 2 }'`, 0, /^$/],
  ["one is known", `echo '{ "auditReportVersion": 2, "vulnerabilities": {} }'; exit 1`, 1, /vulnerabilities/],
  ["the registry gives no answer", `echo '{ "error": { "code": "ENOTFOUND" } }'; exit 1`, 0, /no answer from the reg/],
])("the audit of what users get: %s", (_, answer, status, said) => {
  expect(ci(answer)).toEqual({ status, stderr: expect.stringMatching(said) });
});
