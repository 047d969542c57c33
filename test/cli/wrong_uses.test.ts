import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runCommand } from "../../src/cli/program.ts";
import { deafContext, emptyFolder, inProcess } from "./process.ts";

const reason = (part: string) => ({ reason: expect.stringContaining(part) });

/** Words that no use of a command is made of: the second half of the error's code, and its fields. */
const usage: readonly (readonly [words: string, code: string, fields: object])[] = [
  ["confg", "unknown_command", { name: "confg", suggestion: "config" }],
  ["help snc", "unknown_command", { name: "snc", suggestion: "sync" }],
  ["--json sync", "option_before_command", { option: "--json", command: "sync" }],
  ["--company acme sync", "option_before_command", { option: "--company", command: "sync" }],
  ["sync --full=yes", "option_with_value", { option: "--full", given: "--full=yes" }],
  ["sync --config", "usage", reason("Option '--config <file>' argument missing")],
  ["sync --xyzzy", "unknown_option", { option: "--xyzzy", suggestion: undefined }],
  ["sync -c", "unknown_option", { option: "-c", suggestion: undefined }],
  ["sync --log-level loud", "usage", reason("'loud' is invalid. Allowed choices are trace, debug, info, ")],
  ["sync --max-time 4", "usage", reason("'4' is invalid. Expected a duration such as 30s, 10m, 4h or 7d")],
  ["sync --max-requests -1", "usage", reason("'-1' is invalid. Expected a whole number from 0 to 1000000000.")],
  ["check --ofline", "unknown_option", { option: "--ofline", suggestion: "--offline" }],
  ["sync --quiet --verbose", "usage", reason("Option '--quiet' cannot be used with option '--verbose'")],
  [
    "status --log-level warn --quiet",
    "usage",
    reason("Option '--quiet' cannot be used with option '--log-level <level>'"),
  ],
  ["rejects --limit 0", "usage", reason("'0' is invalid. Expected a whole number from 1 to 1000000000.")],
  ["rejects items invoices", "usage", reason("Expected 1 argument but got 2: items, invoices.")],
  ["verify --sample 3 --all", "usage", reason("Option '--all' cannot be used with option '--sample <n>'")],
  ["reset", "usage", reason("Missing required argument 'stream'")],
  ["reset items --dryrun", "unknown_option", { option: "--dryrun", suggestion: "--dry-run" }],
  ["backfill --from 01/31/2024", "usage", reason("'01/31/2024' is invalid. Expected a date such as")],
  ["backfill --to 2024-02-30", "usage", reason("'2024-02-30' is invalid. Expected a date such as")],
  [
    "replay --from 2024-13-01",
    "usage",
    reason("'2024-13-01' is invalid. Expected a calendar date such as 2024-01-31, or a moment"),
  ],
  [
    "replay --to yesterday",
    "usage",
    reason("'yesterday' is invalid. Expected a calendar date such as 2024-01-31, or a moment"),
  ],
  ["schedule --once", "usage", reason("Option '--once <name>' argument missing")],
  ["schedule --no-serve", "unknown_option", { option: "--no-serve", suggestion: "--no-server" }],
  ["dbt", "usage", reason("Required option '--out <folder>' not specified")],
  ["dbt --out s3://bucket/dbt", "usage", reason("'s3://bucket/dbt' is invalid. Expected a path on this machine")],
  [
    "report --out gs://bucket/r.html",
    "usage",
    reason("'gs://bucket/r.html' is invalid. Expected a path on this machine"),
  ],
  ["report --out r.html --months 0", "usage", reason("'0' is invalid. Expected a whole number from 1 to 36.")],
  ["export --out s3://bucket/lake", "usage", reason("'s3://bucket/lake' is invalid. Expected a path on this machine")],
  ["export --out lake --keep 0", "usage", reason("'0' is invalid. Expected a whole number from 1 to 1000000000.")],
  ["simulate --port 99999", "usage", reason("'99999' is invalid. Expected a whole number from 0 to 65535.")],
  ["simulate --vocabulary klingon", "usage", reason("'klingon' is invalid. Allowed choices are plain, other.")],
  ["simulate --prot 1", "unknown_option", { option: "--prot", suggestion: "--port" }],
  ["init --force", "unknown_option", { option: "--force", suggestion: undefined }],
];

const noCompany = /^--company: expected one of acme, got acne\. Name one of them, or leave --company out for all\./m;
const noStream = /^stream: there is no stream "itmes"\. Did you mean items\? `tributary streams` lists them all\./m;

/** Uses that can't be: what was expected, what came, what to do. Nothing has been loaded, and nobody sits at a terminal. */
const refused: readonly (readonly [words: string, said: RegExp])[] = [
  ["sync nothing_*", /^stream: there is no stream "nothing_\*"\. `tributary streams` lists them all\./m],
  [
    "sync purchase_order itmes",
    /^stream: there is no stream "purchase_order"\. Did you mean purchase_orders\? `tributary streams` lists them all\.\nstream: there is no stream "itmes"\. Did you mean items\? `tributary streams` lists them all\./m,
  ],
  [
    "sync preset:cor",
    /^stream: expected preset:core, preset:standard or preset:all, got "preset:cor"\. `tributary streams` lists them all\./m,
  ],
  ["check --company acne", /^FAIL {2}config .*expected one of acme, got acne\.\n +Name one of them/m],
  [
    "verify purchase_order",
    /^Expected a warehouse to compare with the service, but nothing has been loaded yet: run `tributary sync` first\./m,
  ],
  [
    "verify",
    /^Expected a warehouse to compare with the service, but nothing has been loaded yet: run `tributary sync` first\./m,
  ],
  ["backfill --resume --restart", /^--resume goes on, --restart begins again: give one of them\./m],
  ["backfill --from 2999-01-01", /expected a day that has come/],
  [
    "backfill --resume --from 2024-01-01",
    /^--resume goes on with the dates of what was begun: leave --from and --to out, or give them with --restart\./m,
  ],
  [
    "backfill --from 2024-02-01 --to 2024-01-01",
    /^--to: expected a day after 2024-02-01, got 2024-01-01\. Name a later day, or leave --to out\./m,
  ],
  [
    "replay --from 2024-02-01 --to 2024-01-01",
    /^--from and --to: expected a beginning before the end, but 2024-02-01T00:00:00\.000Z is not before 2024-01-02T00:00:00\.000Z\. Swap them, or leave one out\./m,
  ],
  [
    "replay",
    /^replay: expected an archive to load from, but the configuration names none\. Set archive\.path; from then on answers are kept in it\./m,
  ],
  [
    "schedule --once weekly",
    /^--once: expected the name of a schedule \(nightly\), got weekly\. Name one that there is\./m,
  ],
  ["schedule --json", /"--json prints the report of one run: name it with --once NAME\./m],
  [
    "dbt --out file",
    /^The folder \S*\/file could not be written \(ENOTDIR\): check what it is and its rights, or name another folder\./m,
  ],
  [
    "docs --out file",
    /^The folder \S*\/file could not be written \(ENOTDIR\): check what it is and its rights, or name another folder\./m,
  ],
  [
    "export --out file/lake",
    /^The folder \S*\/file\/lake could not be written \(ENOTDIR\): check what it is and its rights, or name another folder\./m,
  ],
  [
    "docs --out theirs",
    /^\S*\/theirs holds what is in the way of `tributary docs`:\n {2}index\.html \(not written by tributary\)\nNothing was written: move them away, or name another folder\./m,
  ],
  [
    "report --out dir",
    /^--out \S*\/dir: expected a file's name, found a folder\. Name a file, such as report\.html\./m,
  ],
  [
    "report --out file",
    /^--out \S*\/file: there is a file already that tributary report did not write\. Name another file, or move this one away\./m,
  ],
  [
    "report --out file/below.html",
    /^The report could not be written to \S*\/file\/below\.html \(ENOTDIR\): check that its folder is one and can be written, or name another file\./m,
  ],
  [
    "report --out r.html",
    /^Expected a warehouse to report on, but nothing has been loaded yet: run `tributary sync` first\./m,
  ],
  [
    "export --out .",
    /^--out \.: expected a folder of its own, got the one you are in, or one above it\. Name one below it, such as \.\/lake\./m,
  ],
  ["export --out file", /^--out file: expected a folder, found a file\. Name another folder\./m],
  [
    "export --out theirs",
    /^--out theirs: expected an earlier export, an empty folder or nothing, but there are files in it that no export wrote\. Nothing was written; name another folder\./m,
  ],
  ["export --out lake", /^Expected tables to export, but nothing has been loaded yet: run `tributary sync` first\./m],
  [
    "export --out lake --partition-by a:b:c",
    /^--partition-by a:b:c: expected the unit year, month or day, got "b:c"\. Name one of them, or leave :b:c out\./m,
  ],
  [
    "export --out lake --partition-by items=day:week",
    /^--partition-by items=day:week: expected the unit year, month or day, got "week"\. Name one of them, or leave :week out\./m,
  ],
  [
    "simulate --fault error5000=1",
    /^--fault: unknown fault error5000\. Did you mean error500\? `tributary simulate --help` shows examples\./m,
  ],
  [
    "simulate --fault error500=often",
    /^--fault error500: expected a value that this fault takes, got "often" \(Invalid input\)\. `tributary simulate --help` shows examples\./m,
  ],
  [
    "simulate --host 203.0.113.1",
    /^The simulator can't listen on 203\.0\.113\.1:8099 \(EADDRNOTAVAIL\): choose another --port or --host\./m,
  ],
  ["init", /^\S*\/config\.yaml exists already and stays as it is: remove it, or name another with --config\./m],
  ...["sync", "status", "rejects", "verify", "reset items", "docs", "report --out r.html", "export --out lake"].map(
    words => [`${words} --company acne`, noCompany] as const,
  ),
  ...["reset itmes --yes", "backfill itmes", "export itmes --out lake"].map(words => [words, noStream] as const),
];

/** Configurations that can't be used, each with all that is wrong in it; config/refusals.test.ts has each fault. */
const configured: readonly (readonly [config: string, ...said: RegExp[]])[] = [
  [
    "destination: { type: postgres, path: s3://x/w, bogus: 1 }",
    /destination\.url: type postgres needs url: /,
    /destination\.path: expected a file's path; .* got "s3:/,
    /destination\.bogus: unknown key; known here: type, /,
  ],
  [
    "privacy: { mask_columns: [no.such], exclude_columns: [nope.x] }",
    /privacy\.mask_columns: expected a column such as .*, got no\.such, which no table has\./,
    /privacy\.exclude_columns: .*got nope\.x/,
  ],
  [
    "streams: { settings: { itmes: {}, items: { volatile: [averge_price, nix] }, invoices: { audit: 0 }, invoice_details: { details: { audit: 7 } } } }",
    /no stream "itmes"\. Did you mean items\?/,
    /averge_price is no column of items .* Did you mean avg_price\?/,
    /: nix is no column/,
    /streams\.settings\.invoice_details\.details\.audit: expected a share from 0 to 1 .*, got 7/,
  ],
];

const KEY = "key-not-shown-71";

/** A folder as a user has it, with files of others in it. */
function place(config = "") {
  const cwd = emptyFolder();
  const text = `api: { base_url: "http://127.0.0.1:1", key: "\${KEY}" }\ncompany: acme\ndestination: { path: ./w.duckdb }\n`;
  const own = config.startsWith("destination") ? text.replace(/destination.*\n/, "") : text;
  writeFileSync(join(cwd, "config.yaml"), `${own}${config}\n`);
  writeFileSync(join(cwd, "file"), "mine");
  for (const name of ["dir", "theirs"]) mkdirSync(join(cwd, name));
  writeFileSync(join(cwd, "theirs/index.html"), "mine");
  return { cwd, env: { KEY, TRIBUTARY_CONFIG: join(cwd, "config.yaml") } };
}

const shared = place();
const files = ["config.yaml", "dir", "file", "theirs"];

test.each(usage)("%s is refused with the help of its command", async (words, code, fields) => {
  const [command = ""] = words.split(" ");
  const own = command.startsWith("-") || ["confg", "help"].includes(command) ? "" : ` ${command}`;
  const message = expect.stringMatching(RegExp.escape(`\n\`tributary${own} --help\` lists what there is.`));
  const used = runCommand(words.split(" "), deafContext(shared).context);
  await expect(used).rejects.toMatchObject({ code: `cli.${code}`, fields, message, exitCode: 2 });
  expect(readdirSync(shared.cwd).sort()).toEqual(files);
});

test.each(refused)("%s", async (words, said) => {
  const { code, stdout, stderr } = await inProcess(words.split(" "), shared);
  expect(stdout + stderr).toMatch(said);
  expect(stdout + stderr).not.toMatch(/\n {4}at |bug in tributary|key-not-shown/);
  expect(code).toBe(2);
  expect(readdirSync(shared.cwd).sort()).toEqual(files);
});

// Of the slower ones a command of each kind.
const printsJson = refused.filter(([words]) => /^(sync|verify|report|export|reset) .*acne/.test(words));

test.each(printsJson)("%s --json says it in the document that every error has", async (words, said) => {
  const [command = "", ...rest] = words.split(" ");
  const { code, stdout } = await inProcess([command, "--json", ...rest], shared);
  const { ok, error } = JSON.parse(stdout) as { ok: boolean; error: { message: string; exit_code: number } };
  expect([code, ok, error.exit_code]).toEqual([2, false, 2]);
  expect(error.message).toMatch(said);
});

test("several faults are one error with each of them, code and message", async () => {
  const { stdout } = await inProcess(["sync", "--json", "purchase_order", "itmes"], shared);
  expect(JSON.parse(stdout).error).toMatchObject({
    code: "general.several",
    fields: {
      faults: ["purchase_order", "itmes"].map(name => ({
        code: expect.any(String),
        message: expect.stringContaining(`"${name}"`),
      })),
    },
  });
});

test.each(configured.map(([config, ...said]) => ({ config, said })))(
  "all that is wrong in $config is told at once",
  async ({ config, said }) => {
    const { code, stdout, stderr } = await inProcess(["sync"], place(config));
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/^The configuration can't be used\.\n/);
    for (const each of said) expect(stderr).toMatch(each);
    expect(stderr).not.toContain(KEY);
  },
);
