import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { emptyFolder, inProcess } from "./process.ts";

/** Words that no use of a command is made of, and what was expected and came; the command's own help is what to do. */
const usage: readonly (readonly [words: string, said: RegExp])[] = [
  ["confg", /^Unknown command 'confg' \(did you mean config\?\)/m],
  ["help snc", /^Unknown command 'snc' \(did you mean sync\?\)/m],
  [
    "--json sync",
    /^Unknown option '--json'\. A command comes first, its options after it: `tributary sync --json …`\./m,
  ],
  [
    "--company acme sync",
    /^Unknown option '--company'\. A command comes first, its options after it: `tributary sync --company …`\./m,
  ],
  ["sync --ful", /^Unknown option '--ful' \(did you mean --full\?\)/m],
  ["sync --detail", /^Unknown option '--detail' \(did you mean --details\?\)/m],
  ["sync --json=1", /^Option '--json' takes no value, got '--json=1'\./m],
  ["sync --full=yes", /^Option '--full' takes no value, got '--full=yes'\./m],
  ["sync --config", /^Option '--config <file>' argument missing/m],
  ["sync --xyzzy", /^Unknown option '--xyzzy'/m],
  ["sync -c", /^Unknown option '-c'/m],
  [
    "sync --log-level loud",
    /^Option '--log-level <level>' argument 'loud' is invalid\. Allowed choices are trace, debug, info, warn, error, silent\./m,
  ],
  [
    "sync --max-time 4",
    /^Option '--max-time <duration>' argument '4' is invalid\. Expected a duration such as 30s, 10m, 4h or 7d\./m,
  ],
  [
    "sync --max-time soon",
    /^Option '--max-time <duration>' argument 'soon' is invalid\. Expected a duration such as 30s, 10m, 4h or 7d\./m,
  ],
  [
    "sync --max-requests -1",
    /^Option '--max-requests <n>' argument '-1' is invalid\. Expected a whole number from 0 to 1000000000\./m,
  ],
  [
    "sync --max-requests many",
    /^Option '--max-requests <n>' argument 'many' is invalid\. Expected a whole number from 0 to 1000000000\./m,
  ],
  [
    "sync --max-requests 1.5",
    /^Option '--max-requests <n>' argument '1\.5' is invalid\. Expected a whole number from 0 to 1000000000\./m,
  ],
  [
    "sync --wait 30",
    /^Option '--wait <duration>' argument '30' is invalid\. Expected a duration such as 30s, 10m, 4h or 7d\./m,
  ],
  ["check --ofline", /^Unknown option '--ofline' \(did you mean --offline\?\)/m],
  ["check now", /^Too many arguments for 'check'\. Expected 0 arguments but got 1: now\./m],
  ["sync --quiet --verbose", /^Option '--quiet' cannot be used with option '--verbose'\n/m],
  ["status --log-level warn --quiet", /^Option '--quiet' cannot be used with option '--log-level <level>'\n/m],
  [
    "sync --log-format text",
    /^Option '--log-format <format>' argument 'text' is invalid\. Allowed choices are json, pretty\./m,
  ],
  ["check --log-level", /^Option '--log-level <level>' argument missing/m],
  ["config all", /^Too many arguments for 'config'\. Expected 0 arguments but got 1: all\./m],
  ["config --offline", /^Unknown option '--offline'/m],
  ["streams items invoices", /^Too many arguments for 'streams'\. Expected 1 argument but got 2: items, invoices\./m],
  ["streams --jsn", /^Unknown option '--jsn' \(did you mean --json\?\)/m],
  ["status --server", /^Unknown option '--server' \(did you mean --serve\?\)/m],
  ["status items", /^Too many arguments for 'status'\. Expected 0 arguments but got 1: items\./m],
  [
    "rejects --limit 0",
    /^Option '--limit <n>' argument '0' is invalid\. Expected a whole number from 1 to 1000000000\./m,
  ],
  [
    "rejects --limit x",
    /^Option '--limit <n>' argument 'x' is invalid\. Expected a whole number from 1 to 1000000000\./m,
  ],
  ["rejects --problem", /^Unknown option '--problem' \(did you mean --problems\?\)/m],
  ["rejects items invoices", /^Too many arguments for 'rejects'\. Expected 1 argument but got 2: items, invoices\./m],
  ["verify --sample 3 --all", /^Option '--all' cannot be used with option '--sample <n>'/m],
  [
    "verify --sample half",
    /^Option '--sample <n>' argument 'half' is invalid\. Expected a whole number from 0 to 1000000000\./m,
  ],
  [
    "verify --sample -3",
    /^Option '--sample <n>' argument '-3' is invalid\. Expected a whole number from 0 to 1000000000\./m,
  ],
  ["verify --seed", /^Option '--seed <text>' argument missing/m],
  ["reset", /^Missing required argument 'stream'/m],
  ["reset --drop", /^Missing required argument 'stream'/m],
  ["reset items --dryrun", /^Unknown option '--dryrun' \(did you mean --dry-run\?\)/m],
  [
    "reset items --wait long",
    /^Option '--wait <duration>' argument 'long' is invalid\. Expected a duration such as 30s, 10m, 4h or 7d\./m,
  ],
  [
    "backfill --from 01/31/2024",
    /^Option '--from <date>' argument '01\/31\/2024' is invalid\. Expected a calendar date such as 2024-01-31\./m,
  ],
  [
    "backfill --to 2024-02-30",
    /^Option '--to <date>' argument '2024-02-30' is invalid\. Expected a calendar date such as 2024-01-31\./m,
  ],
  ["backfill --until 2024-01-01", /^Unknown option '--until'/m],
  [
    "replay --from 2024-13-01",
    /^Option '--from <date>' argument '2024-13-01' is invalid\. Expected a calendar date such as 2024-01-31, or a moment such as 2024-01-31T06:00Z\./m,
  ],
  [
    "replay --to yesterday",
    /^Option '--to <date>' argument 'yesterday' is invalid\. Expected a calendar date such as 2024-01-31, or a moment such as 2024-01-31T06:00Z\./m,
  ],
  ["replay --max-requests 4", /^Unknown option '--max-requests'/m],
  ["schedule --once", /^Option '--once <name>' argument missing/m],
  ["schedule --no-serve", /^Unknown option '--no-serve' \(did you mean --no-server\?\)/m],
  ["schedule nightly", /^Too many arguments for 'schedule'\. Expected 0 arguments but got 1: nightly\./m],
  ["ddl --fordba", /^Unknown option '--fordba' \(did you mean --for-dba\?\)/m],
  ["ddl items", /^Too many arguments for 'ddl'\. Expected 0 arguments but got 1: items\./m],
  ["dbt", /^Required option '--out <folder>' not specified/m],
  ["dbt --out", /^Option '--out <folder>' argument missing/m],
  [
    "dbt --out s3://bucket/dbt",
    /^Option '--out <folder>' argument 's3:\/\/bucket\/dbt' is invalid\. Expected a path on this machine: write to a disk, and copy from there\./m,
  ],
  ["dbt --output x", /^Required option '--out <folder>' not specified/m],
  [
    "docs --out s3://bucket/docs",
    /^Option '--out <dir>' argument 's3:\/\/bucket\/docs' is invalid\. Expected a path on this machine: write to a disk, and copy from there\./m,
  ],
  [
    "docs --format pdf",
    /^Option '--format <format>' argument 'pdf' is invalid\. Allowed choices are html, md, both\./m,
  ],
  ["docs --example", /^Unknown option '--example'/m],
  ["report", /^Required option '--out <file>' not specified/m],
  [
    "report --out gs://bucket/r.html",
    /^Option '--out <file>' argument 'gs:\/\/bucket\/r\.html' is invalid\. Expected a path on this machine: write to a disk, and copy from there\./m,
  ],
  [
    "report --out r.html --months 0",
    /^Option '--months <n>' argument '0' is invalid\. Expected a whole number from 1 to 36\./m,
  ],
  [
    "report --out r.html --months 37",
    /^Option '--months <n>' argument '37' is invalid\. Expected a whole number from 1 to 36\./m,
  ],
  ["export", /^Required option '--out <dir>' not specified/m],
  [
    "export --out s3://bucket/lake",
    /^Option '--out <dir>' argument 's3:\/\/bucket\/lake' is invalid\. Expected a path on this machine: write to a disk, and copy from there\./m,
  ],
  [
    "export --out lake --keep 0",
    /^Option '--keep <n>' argument '0' is invalid\. Expected a whole number from 1 to 1000000000\./m,
  ],
  [
    "export --out lake --format csv",
    /^Option '--format <format>' argument 'csv' is invalid\. Allowed choices are parquet\./m,
  ],
  [
    "export --out lake --compression gzip",
    /^Option '--compression <name>' argument 'gzip' is invalid\. Allowed choices are zstd, snappy\./m,
  ],
  [
    "simulate --port 99999",
    /^Option '--port <n>' argument '99999' is invalid\. Expected a whole number from 0 to 65535\./m,
  ],
  [
    "simulate --port http",
    /^Option '--port <n>' argument 'http' is invalid\. Expected a whole number from 0 to 65535\./m,
  ],
  [
    "simulate --orders many",
    /^Option '--orders <n>' argument 'many' is invalid\. Expected a whole number from 0 to 10000000\./m,
  ],
  [
    "simulate --paging pages",
    /^Option '--paging <mode>' argument 'pages' is invalid\. Allowed choices are keyset, offset\./m,
  ],
  [
    "simulate --vocabulary klingon",
    /^Option '--vocabulary <name>' argument 'klingon' is invalid\. Allowed choices are plain, other\./m,
  ],
  [
    "simulate --latency 50",
    /^Option '--latency <duration>' argument '50' is invalid\. Expected a duration such as 30s, 10m, 4h or 7d\./m,
  ],
  [
    "simulate --rate-limit 0",
    /^Option '--rate-limit <n>' argument '0' is invalid\. Expected a whole number from 1 to 1000000000\./m,
  ],
  ["simulate --prot 1", /^Unknown option '--prot' \(did you mean --port\?\)/m],
  ["init --force", /^Unknown option '--force'/m],
];

/** Uses that can't be: what was expected, what came, what to do. Nothing has been loaded, and nobody sits at a terminal. */
const refused: readonly (readonly [words: string, said: RegExp])[] = [
  [
    "sync --company acne",
    /^--company: expected one of acme, got acne\. Name one of them, or leave --company out for all\./m,
  ],
  [
    "sync purchase_order",
    /^stream: there is no stream "purchase_order"\. Did you mean purchase_orders\? `tributary streams` lists them all\./m,
  ],
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
    "streams purchase_order",
    /^stream: there is no stream "purchase_order"\. Did you mean purchase_orders\? `tributary streams` lists them all\./m,
  ],
  [
    "status --company acne",
    /^--company: expected one of acme, got acne\. Name one of them, or leave --company out for all\./m,
  ],
  [
    "rejects purchase_order",
    /^stream: there is no stream "purchase_order"\. Did you mean purchase_orders\? `tributary streams` lists them all\./m,
  ],
  [
    "rejects --company acne",
    /^--company: expected one of acme, got acne\. Name one of them, or leave --company out for all\./m,
  ],
  [
    "verify purchase_order",
    /^Expected a warehouse to compare with the service, but nothing has been loaded yet: run `tributary sync` first\./m,
  ],
  [
    "verify --company acne",
    /^--company: expected one of acme, got acne\. Name one of them, or leave --company out for all\./m,
  ],
  [
    "verify",
    /^Expected a warehouse to compare with the service, but nothing has been loaded yet: run `tributary sync` first\./m,
  ],
  [
    "verify --dry-run",
    /^Expected a warehouse to compare with the service, but nothing has been loaded yet: run `tributary sync` first\./m,
  ],
  [
    "reset itmes --yes",
    /^stream: there is no stream "itmes"\. Did you mean items\? `tributary streams` lists them all\./m,
  ],
  [
    "reset items --company acne",
    /^--company: expected one of acme, got acne\. Name one of them, or leave --company out for all\./m,
  ],
  ["backfill --resume --restart", /^--resume goes on, --restart begins again: give one of them\./m],
  [
    "backfill --resume --from 2024-01-01",
    /^--resume goes on with the dates of what was begun: leave --from and --to out, or give them with --restart\./m,
  ],
  [
    "backfill --from 2024-02-01 --to 2024-01-01",
    /^--to: expected a day after 2024-02-01, got 2024-01-01\. Name a later day, or leave --to out\./m,
  ],
  [
    "backfill itmes",
    /^stream: there is no stream "itmes"\. Did you mean items\? `tributary streams` lists them all\./m,
  ],
  [
    "replay --from 2024-02-01 --to 2024-01-01",
    /^--from and --to: expected a beginning before the end, but 2024-02-01T00:00:00\.000Z is not before 2024-01-02T00:00:00\.000Z\. Swap them, or leave one out\./m,
  ],
  [
    "replay --rejects --from 2024-01-01",
    /^--rejects tries all rows that could not be stored: leave --from and --to out\./m,
  ],
  [
    "replay",
    /^replay: expected an archive to load from, but the configuration names none\. Set archive\.path; from then on answers are kept in it\./m,
  ],
  [
    "schedule --once weekly",
    /^--once: expected the name of a schedule \(nightly\), got weekly\. Name one that there is\./m,
  ],
  ["schedule --json", /^--json prints the report of one run: name it with --once NAME\./m],
  [
    "dbt --out file",
    /^The folder \S*\/file could not be written \(ENOTDIR\): check what it is and its rights, or name another folder\./m,
  ],
  [
    "dbt --out file/below",
    /^The folder \S*\/file\/below could not be written \(ENOTDIR\): check what it is and its rights, or name another folder\./m,
  ],
  [
    "docs --out file",
    /^The folder \S*\/file could not be written \(ENOTDIR\): check what it is and its rights, or name another folder\./m,
  ],
  [
    "docs --out theirs",
    /^\S*\/theirs holds what is in the way of `tributary docs`:\n {2}index\.html \(not written by tributary\)\nNothing was written: move them away, name another folder, or take --force to overwrite them\./m,
  ],
  [
    "docs --company acne",
    /^--company: expected one of acme, got acne\. Name one of them, or leave --company out for all\./m,
  ],
  [
    "report --out dir",
    /^--out \S*\/dir: expected a file's name, found a folder\. Name a file, such as report\.html\./m,
  ],
  [
    "report --out file",
    /^--out \S*\/file: there is a file already that tributary report did not write\. Name another file, move this one away, or take --force to overwrite it\./m,
  ],
  [
    "report --out file/below.html",
    /^The report could not be written to \S*\/file\/below\.html \(ENOTDIR\): check that its folder is one and can be written, or name another file\./m,
  ],
  [
    "report --out r.html --company acne",
    /^--company: expected one of acme, got acne\. Name one of them, or leave --company out for all\./m,
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
    "export itmes --out lake",
    /^stream: there is no stream "itmes"\. Did you mean items\? `tributary streams` lists them all\./m,
  ],
  [
    "export --out lake --company acne",
    /^--company: expected one of acme, got acne\. Name one of them, or leave --company out for all\./m,
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
  ["init --yes", /^\S*\/config\.yaml exists already and stays as it is: remove it, or name another with --config\./m],
];

/** Configurations that can't be used, each with all that is wrong in it. */
const configured: readonly (readonly [config: string, ...said: RegExp[]])[] = [
  [
    "destination: { type: postgres, path: s3://x/w, bogus: 1 }",
    /destination\.url: type postgres needs url: /,
    /destination\.path: expected a file's path; .* got "s3:/,
    /destination\.bogus: unknown key; known here: type, /,
  ],
  [
    "privacy: { pii: hash }\nfrobnicate: 1",
    /privacy\.key: hashing needs a key: a secret/,
    /:5:1 frobnicate: unknown key; known here: /,
  ],
  [
    "privacy: { mask_columns: [no.such], exclude_columns: [nope.x] }",
    /privacy\.mask_columns: expected a column such as .*, got no\.such, which no table has\./,
    /privacy\.exclude_columns: .*got nope\.x/,
  ],
  [
    "streams: { include: [itmes, 'zz*'], exclude: [findngs] }",
    /streams\.include: there is no stream "itmes"\. Did you mean items\? `tributary streams`/,
    /streams\.include: there is no stream "zz\*"/,
    /streams\.exclude: there is no stream "findngs"/,
  ],
  [
    "streams: { settings: { itmes: {}, items: { volatile: [averge_price, nix] }, invoices: { audit: 7 } } }",
    /no stream "itmes"\. Did you mean items\?/,
    /averge_price is no column of items .* Did you mean avg_price\?/,
    /: nix is no column/,
    /streams\.settings\.invoices\.audit: expected a share from 0 to 1 .*, got 7/,
  ],
  [
    "deletes: { max_share: 3, min_rows: -1 }\nviews: maybe",
    /deletes\.max_share: expected a share .*, got 3/,
    /deletes\.min_rows: expected a whole number from 0 to 1000000000, got -1/,
    /views: expected true, false or materialized, got "maybe"/,
  ],
  [
    "server: { listen: here, token: 'a b' }\nstreams: { include: [nix] }",
    /server\.listen: expected host:port such as .*, got "here"/,
    /server\.token: expected /,
    /no stream "nix"/,
  ],
  [
    "schedules: [{ name: a, cron: '0 2 * * *' }, { name: a, cron: never }]\nmemory: 1MB",
    /schedules\[1\]\.cron: expected a cron expression .*, got "never"/,
    /memory: expected a size such as .*\(at least 64MB\), got "1MB"/,
  ],
  [
    "notify: { targets: [{ format: slack }] }\nfreshness: { late_after: soon }",
    /notify\.targets\[0\]: expected either url or command/,
    /freshness\.late_after: expected a duration/,
  ],
  [
    "archive: { path: s3://bucket/raw }\nformats: { timezone: Berlin }",
    /archive\.path: expected a folder's path; .*addresses such as s3/,
    /formats\.timezone: expected a time zone/,
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
const helped = usage.map(([words, said]) => {
  const [command = ""] = words.split(" ");
  const own = command.startsWith("-") || ["confg", "help"].includes(command) ? "" : ` ${command}`;
  return [words, said, `\`tributary${own} --help\` lists what there is.`] as const;
});
const all = [...helped, ...refused.map(([words, said]) => [words, said, ""] as const)];

test.each(all)("%s", async (words, said, help) => {
  const { code, stdout, stderr } = await inProcess(words.split(" "), shared);
  const told = /^\{/.test(stdout)
    ? (JSON.parse(stdout) as { error: { message: string } }).error.message
    : stdout + stderr;
  expect(told).toMatch(said);
  expect(told).toContain(help);
  expect(told).not.toMatch(/\n {4}at |bug in tributary|key-not-shown/);
  expect(code).toBe(2);
  expect(readdirSync(shared.cwd).sort()).toEqual(["config.yaml", "dir", "file", "theirs"]);
});

// Of the slower ones a command of each kind.
const printsJson = [
  ...helped,
  ...all.filter(([words]) => /^(sync|verify|report|export|reset) .*acne/.test(words)),
].filter(([words]) => !/^(-|help|init|ddl|check|config$)|--json/.test(words));

test.each(printsJson)("%s --json says it in the document that every error has", async (words, said, help) => {
  const [command = "", ...rest] = words.split(" ");
  const { code, stdout } = await inProcess([command, "--json", ...rest], shared);
  const { ok, error } = JSON.parse(stdout) as { ok: boolean; error: { message: string; exit_code: number } };
  expect([code, ok, error.exit_code]).toEqual([2, false, 2]);
  expect(error.message).toMatch(said);
  expect(error.message).toContain(help);
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
