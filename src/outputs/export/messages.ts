import { formatCount } from "../../counted.ts";
import { DENIED, FULL } from "../../files.ts";
import { catalog, template } from "../../message.ts";

const didYouMean = (nearest: string | undefined): string => (nearest === undefined ? "" : ` Did you mean ${nearest}?`);

const UNWRITABLE = `${DENIED} Give it write permission on the folder that --out lies in, or name another one.`;

const advice = {
  full: `${FULL} Tables are written beside the previous export, and rows of PostgreSQL wait there in slices of 256 MB: free some space, or keep fewer versions (--keep 1), then run the same command again.`,
  denied: UNWRITABLE,
  read_only: UNWRITABLE,
  busy: "A disk is mounted there, or a program stands in it. Name a folder below it instead.",
  long_name: "The path is too long for the file system. Name a folder further up.",
  no_folder: "A part of the path that should be a folder is a file. Name another folder.",
  gone: "Something vanished meanwhile: a mounted drive, the folder beside it that holds the versions, or what was unfinished because another export into the same folder began. Run the same command again.",
};

export type Refused = keyof typeof advice;

export const exportMessages = catalog("export", {
  exported: "exported",
  not_noted:
    "{path=/srv/lake} could not be noted in {state_schema=_tributary}.exports, which names the exports that a change of `privacy` outdates. {reason=The role analyst may not write.}",
  no_tables: template({ streams: [] as readonly string[] }, ({ streams }) => {
    const what = streams.length === 0 ? "the warehouse has no table" : `there is no table of ${streams.join(", ")}`;
    return `Expected tables to export, but ${what} yet: run \`tributary sync\` first.`;
  }),
  disk_refused: template(
    { path: "/srv/lake", reason: "ENOSPC: no space left on device, write", why: "full" as Refused },
    ({ path, reason, why }) =>
      `Expected to export to ${path}, but: ${reason}. ${advice[why]} What was exported before is untouched.`,
  ),
  not_below:
    "--out {out=.}: expected a folder of its own, got the one you are in, or one above it. Name one below it, such as ./lake.",
  versions_blocked:
    "--out {out=lake}: expected to keep versions in {home=/srv/lake.exports}, but a file has that name. Name another folder.",
  foreign_link:
    "--out {out=lake}: expected an earlier export or nothing, but it is a symbolic link to {target?=/mnt/lake}. Name another folder, or remove the link.",
  not_a_folder: "--out {out=lake}: expected a folder, found a file. Name another folder.",
  foreign_files:
    "--out {out=lake}: expected an earlier export, an empty folder or nothing, but there are files in it that no export wrote. Nothing was written; name another folder.",
  no_links:
    "Expected to make {path=/mnt/lake} a symbolic link, which is how an export changes in one step, but its file system has none ({error_code?=EPERM}). Export to a disk that has them, and copy from there (docs/export.md shows how).",
  partition_malformed: template(
    { partition_by: "a=b=c" },
    ({ partition_by }) =>
      `--partition-by: expected _company, or table=column, or table=column:year, :month or :day, got ${JSON.stringify(partition_by)}. \`tributary export --help\` shows examples.`,
  ),
  partition_unknown_unit: template(
    { partition_by: "items=created_at:weak", unit: "weak", nearest: "year" as string | undefined },
    ({ partition_by, unit, nearest }) =>
      `--partition-by ${partition_by}: expected the unit year, month or day, got ${JSON.stringify(unit)}.${didYouMean(nearest)} Name one of them, or leave :${unit} out.`,
  ),
  partition_only_columns:
    "--partition-by: {table=items} would have no column left in its files. Leave one of them out.",
  partition_column_nowhere: template(
    { partition_by: "statuss", column: "statuss", nearest: "status" as string | undefined },
    ({ partition_by, column, nearest }) =>
      `--partition-by ${partition_by}: none of the exported tables has a column ${column}.${didYouMean(nearest)}`,
  ),
  partition_unknown_table: template(
    { partition_by: "item=status", table: "item", nearest: "items" as string | undefined },
    ({ partition_by, table, nearest }) =>
      `--partition-by ${partition_by}: there is no table ${table} among those exported.${didYouMean(nearest)}`,
  ),
  partition_unknown_column: template(
    { partition_by: "items=statuss", table: "items", column: "statuss", nearest: "status" as string | undefined },
    ({ partition_by, table, column, nearest }) =>
      `--partition-by ${partition_by}: ${table} has no column ${column}.${didYouMean(nearest)}`,
  ),
  partition_unit_of_no_time:
    "--partition-by {partition_by=items=status:month}: {table=items}.{column=status} is {type=text}, and only dates and moments have a {unit=month}. Leave :{unit=month} out, or name a date.",
  partition_needs_unit:
    "--partition-by {partition_by=items=created_at}: every moment would be a folder of its own. Say which unit of time: {column=created_at}:year, {column=created_at}:month or {column=created_at}:day.",
  partition_by_no_name:
    "--partition-by {partition_by=items=price}: {table=items}.{column=price} is {type=numeric(18,2)}, which cannot be a folder's name. Name a column with text, a date, a count or a flag.",
  partition_name_taken:
    "--partition-by {partition_by=items=day:month}: the folders would be called {name=day_month}, but {table=items} has a column of that name. Name that column instead.",
  partition_value_too_long:
    "--partition-by: a value of {name=title} is too long to be a folder's name ({folder=title=A very long one}…; at most {max_bytes=255} bytes). Partition by a column with shorter values.",
  too_many_folders: template(
    { table: "items", max_folders: 10_000, partitions: ["created_at_day"] },
    ({ table, max_folders, partitions }) =>
      `--partition-by: ${table} would have more than ${formatCount(max_folders)} folders by ${partitions.join(", ")}. Partition by a longer unit of time, or by a column with fewer values.`,
  ),
});
