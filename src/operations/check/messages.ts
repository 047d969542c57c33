import { catalog, template } from "../../message.ts";

const state = (loaded: boolean, nothing: string): string => (loaded ? "a warehouse of tributary" : nothing);

const differing = { table: "items", rows: 40, known: 45 };

const disk = {
  ...{ folder: "/srv/tributary", free_bytes: 6e9, size_bytes: 4e9, needed_bytes: 4.08e9, copies: 1 },
  spill: "/srv/tributary/spill",
  /** Undefined: readers open the file itself. */
  keep_versions: 2 as number | undefined,
};

function room({ folder, free_bytes, size_bytes, needed_bytes, copies, spill, keep_versions }: typeof disk): string {
  const what =
    keep_versions === undefined
      ? "as much again as the file has, for a run in which everything changes"
      : copies === 1
        ? "a copy of the work file for the next publish"
        : `${copies} copies of the work file (${amount(size_bytes)}) until ${keep_versions} versions are kept`;
  const files = `DuckDB's own temporary files in ${spill}-…`;
  const needed =
    size_bytes === 0
      ? `nothing is loaded yet; a run needs room for ${files}, too`
      : `needed is ${amount(needed_bytes)}: ${what}, and ${amount(needed_bytes - copies * size_bytes)} for ${files}`;
  return `${amount(free_bytes)} free in ${folder}; ${needed}`;
}

function moreRoom({ keep_versions = 0 }: typeof disk): string {
  const lower = keep_versions < 2 ? "" : ", or lower destination.keep_versions";
  return `Make room${lower}: twice what is needed is a safe amount, and 1 GB the least.`;
}

const amount = (bytes: number): string =>
  bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;

const seconds = (ms: number): string => `${Math.round(Math.abs(ms) / 1000)} s`;

const target = { format: "slack", host: "hooks.example.com", on: ["failure", "recovery"] as readonly string[] };
const delivery = ({ format, host, on }: typeof target): string =>
  `POST (${format}) to ${host} on ${on.join(", ")}; nothing was sent to try it`;

const meeting = {
  schedules: ["nightly", "weekly"] as readonly string[],
  ...{ at: "2026-03-29T01:00:00.000Z", timezone: "Europe/Berlin" },
};
const meet = ({ schedules, at, timezone }: typeof meeting): string =>
  `${schedules.join(" and ")} are both due at ${localTime(at, timezone)}: one runs after the other`;

/** Rounded up to minutes: `26 h`, `25 h 30 min`. */
function hours(ms: number): string {
  const minutes = Math.ceil(ms / 60_000);
  const rest = minutes % 60;
  return [minutes >= 60 ? `${Math.floor(minutes / 60)} h` : "", rest > 0 ? `${rest} min` : ""].join(" ").trim();
}

/** `Sun 2026-03-29 03:00 +02:00`, by the clock of the zone. */
function localTime(at: string, timeZone: string): string {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    weekday: "short",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    timeZoneName: "longOffset",
  });
  const of = Object.fromEntries(format.formatToParts(Date.parse(at)).map(({ type, value }) => [type, value]));
  const offset = of["timeZoneName"] === "GMT" ? "+00:00" : of["timeZoneName"]?.replace("GMT", "");
  return `${of["weekday"]} ${of["year"]}-${of["month"]}-${of["day"]} ${of["hour"]}:${of["minute"]} ${offset}`;
}

export const checkMessages = catalog("check", {
  streams_on: "{on=9} of {streams=41} are on",
  offline: "not looked at: --offline",

  postgres: template(
    { version: "17.2", database: "warehouse", user: "tributary", schema: "sales", loaded: true },
    ({ version, database, user, schema, loaded }) =>
      `PostgreSQL ${version}, database ${database} as ${user}, schema ${schema}: ${state(loaded, "nothing in it yet")}`,
  ),
  ducklake: template(
    {
      catalog: "PostgreSQL 17.2, database warehouse as tributary",
      data_path: "s3://lake/files",
      schema: "sales",
      loaded: false,
    },
    ({ catalog, data_path, schema, loaded }) =>
      `DuckLake in ${catalog}, files in ${data_path}, schema ${schema}: ${state(loaded, "nothing there yet")}`,
  ),
  duckdb: template(
    { path: "/srv/tributary/warehouse.duckdb", schema: "sales", loaded: true },
    ({ path, schema, loaded }) => `DuckDB ${path}, schema ${schema}: ${state(loaded, "nothing there yet")}`,
  ),
  extension: template({ extension: "ducklake 1.0, from /opt/duckdb" }, ({ extension }) => extension),
  connection: template({ protection: "TLS, certificate not verified" }, ({ protection }) => protection),
  views_not_creatable:
    "The views of {schema=sales_analytics} cannot be made; a run makes the tables without them.\n{reason=The role tributary lacks rights in database warehouse.} Or set views: false.",
  columns_of_others:
    "Columns that tributary did not make: {columns[]=items.remark, items.buyer}. Their values stay when a row changes.",
  columns_retyped:
    "Somebody changed the type of columns: {columns[]=items.price}. The next run restores the types and reads the values again.",
  tables_emptied:
    "Tables have lost all rows of {company=acme}: {tables[]=items, item_parts}. The next run loads again what the service still sends.",
  tables_missing:
    "Tables that tributary made are missing: {tables[]=items, item_parts}. The next run makes them again and reads their streams from the start.",
  rows_differ: template(
    { company: "acme", tables: [differing] as readonly (typeof differing)[] },
    ({ company, tables }) =>
      `Tables have other rows of ${company} than tributary stored: ${tables.map(({ table, rows, known }) => `${table} has ${rows} instead of ${known}`).join(", ")}. The first run of a day, and each with \`--full\`, loads again what the service still sends.`,
  ),
  views_read_others:
    "Views of {schema=sales_analytics} read tables that are not tributary's, perhaps because somebody renamed or moved a table: {views[]=items}. The next run makes these views again.",
  run_at_work:
    "{command=tributary sync} ({run_id=20260329T010000Z-4f1c}, process {pid=4711} on {host=etl-1}) is at work",
  disk: template(disk, room),
  disk_low: template(disk, fields => `${room(fields)}\n${moreRoom(fields)}`),
  disk_full: template({ ...disk, free_bytes: 3e9 }, fields => `${room(fields)}.\n${moreRoom(fields)}`),

  key_belongs: template(
    {
      ...{ company: "acme", name: "Acme Ltd" as string | undefined, id: "C-1" as string | undefined },
      base_url: "https://api.example.com",
    },
    ({ company, name, id, base_url }) =>
      `${company} is ${name ?? "a company without a name"} (${id ?? "without an id"}) at ${base_url}`,
  ),
  key_owner_unknown:
    "whose key it is can't be asked (status {status?=403}) at {base_url=https://api.example.com}\nNothing needs to be done; the warehouse cannot notice a key of another company by its id.",
  clock_unknown: "not compared: the service doesn't say what time it is, or api.clock is ignore",
  clock: template({ off_ms: 1_200 }, ({ off_ms }) => `within ${seconds(off_ms)} of the service's`),
  answered: "GET {path=/items/1} answered in {took_ms=42} ms",
  list_answered: template(
    { path: "/items", took_ms: 42, rows: 1_204 as number | null, empty: false },
    ({ path, took_ms, rows, empty }) =>
      `GET ${path} answered in ${took_ms} ms: ${rows !== null ? `${rows} rows in all` : empty ? "no rows" : "there are rows"}`,
  ),
  rows_not_found:
    "Expected rows at {place=data.items} from GET {path=/items}, got {got=an object}. Check that api.base_url is the service itself.",
  path_not_possible: template(
    { reason: "Expected a value for {id} in /items/{id}, but it is empty: not requested." },
    ({ reason }) => `${reason}\nSuch rows become rejects; others are read.`,
  ),
  values_not_loaded: template(
    { tables: ["items", "customers"] as readonly string[] },
    ({ tables }) => `not tried: its values come from ${tables.join(" and ")}`,
  ),
  depends_on_values: "not tried: it asks for what {stream=items} brings",
  list_not_read: "not tried: {list=items} could not be read\nSee there.",
  list_empty: "its list has no row to ask for",
  first_row_unfit: template(
    { list: "items", column: "customer_id" as string | undefined },
    ({ list, column }) => `not tried: the first row of ${list} has ${column === undefined ? "none" : `no ${column}`}`,
  ),

  archive: "a run can keep its answers in {path=/srv/archive}",
  archive_not_writable: template(
    { path: "/srv/archive", reason: "EACCES", on_error: "warn" as "warn" | "fail" },
    ({ path, reason, on_error }) =>
      `${path} cannot be written (${reason}), so a run ${on_error === "warn" ? "goes on without the archive" : "fails with every stream."}\nSee to its rights, or name another folder in archive.path.`,
  ),
  page: template(
    { address: "127.0.0.1:8787", with: "token" as "token" | "login" | undefined },
    ({ address, with: by }) =>
      `\`tributary schedule\` can serve it at ${address}, ${by === undefined ? "for whoever is on this machine" : `with the ${by}`}`,
  ),
  page_address_in_use:
    "{address=127.0.0.1:8787} is in use: by `tributary schedule`, if it is running, else choose another port",
  page_address_refused:
    "`tributary schedule` can't listen at {address=192.0.2.1:8787} ({reason=EADDRNOTAVAIL})\nName an address of this machine in server.listen, and a port above 1023 unless it runs with the right to lower ones.",
  hooks: template(
    { address: "127.0.0.1:8787", local: true },
    ({ address, local }) =>
      `POST http://${address}/hooks/<secret> asks \`tributary schedule\` for a run; no other command listens${local ? ". Only this machine reaches that address: the service needs a proxy in front of it" : ""}`,
  ),
  notify_address: template(target, delivery),
  notify_unencrypted: template(
    target,
    fields => `${delivery(fields)}, and it goes there unencrypted\nUse an https:// address where there is one.`,
  ),
  notify_program: "{file=/usr/local/bin/page} on {on[]=failure}; it was not started to try it",
  program_not_found:
    "There is no program {program=page} that may be run. Give its full path in notify.targets, and make it executable (chmod +x).",
  rates: template(
    { report: "EUR", rates: 8_112, last: "2026-03-31" },
    ({ report, rates, last }) => `${rates.toLocaleString("en-US")} rates of ${report}, the last of ${last}`,
  ),
  report_file: "the report can be written to {path=/srv/report.html}",
  report_not_writable:
    "{path=/srv/report.html} cannot be written ({reason=EACCES})\nCheck the rights of its folder, or name another file in reports.",
  mail_server: "{host=mail.example.com:465} accepts the connection; nothing was mailed to try it",
  mail_server_unusable:
    "{host=mail.example.com:465} cannot be used: {reason=connect ECONNREFUSED}\nCheck address, port, user and password in the report's `mail.smtp`, and whether the server is up.",
  secret_readable: template(
    { path: "/etc/tributary/config.yaml", mode: "644" },
    ({ path, mode }) =>
      `${path} holds a secret in plain, and others on this machine may read it (mode ${mode})\nchmod 600 ${path}, or take the secret from a variable or a file that only this user reads.`,
  ),

  schedule: template(
    { cron: "0 3 * * *", timezone: "Europe/Berlin", next: ["2026-03-29T01:00:00.000Z"] as readonly string[] },
    ({ cron, timezone, next }) =>
      `"${cron}" in ${timezone}: next ${next.map(at => localTime(at, timezone)).join(", ")}`,
  ),
  streams_unscheduled:
    "no schedule reads {streams[]=items, contracts}\nAdd a schedule, or the names to one's `streams`, unless something else starts `tributary sync` for them.",
  schedules_meet: template(meeting, meet),
  schedules_overlap: template(
    { ...meeting, streams: ["items"] as readonly string[] },
    ({ streams, ...fields }) =>
      `${meet(fields)}, and both read ${streams.join(", ")}\nMove one of them, or narrow its \`streams\`: the second of two runs in a row finds little that is new.`,
  ),
  freshness: template(
    { late_after_ms: 93_600_000 },
    ({ late_after_ms }) => `data counts as late when it is older than ${hours(late_after_ms)}`,
  ),
  freshness_missed: template(
    { late_after_ms: 93_600_000, stream: "items", others: 2, pause_ms: 259_200_000 },
    ({ late_after_ms, stream, others, pause_ms }) =>
      `data counts as late after ${hours(late_after_ms)}, but ${stream}${others > 0 ? ` and ${others} more` : ""} may wait ${hours(pause_ms)} from one run to the next\nSet freshness.late_after above the longest pause between two runs, or schedule a run in between.`,
  ),
});
