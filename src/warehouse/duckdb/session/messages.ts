import { DENIED, FULL } from "../../../files.ts";
import { catalog, template } from "../../../message.ts";

const path = "/data/dw.duckdb";
const versions_folder = "/data/dw.versions";
const work_path = `${versions_folder}/work.duckdb`;

const failed = (reason: string, advice: string) =>
  template(
    { doing: `open the warehouse file ${path}`, reason },
    ({ doing, reason }) => `Expected to ${doing}, but: ${reason}. ${advice}`,
  );

const inTheWay = (path: string, found: string): string =>
  `Expected ${path} to be free or a warehouse of tributary, but ${found}. It was left as it is: point destination.path to another place, or move it away.`;

export const duckdbMessages = catalog("duckdb", {
  lockless: failed(
    `IO Error: Could not set lock on file "${path}": No locks available`,
    "The file system cannot lock files, which is what keeps two runs apart: see to its locks (of NFS: its lock service), or point destination.path to another file system.",
  ),
  disk_full: failed(
    "ENOSPC: no space left on device, write",
    `${FULL} Free some space (a publish needs room for one more copy of the file, and for DuckDB's own temporary files beside it, which \`tributary check\` counts) or lower destination.keep_versions, then run the same command again: what was stored before is safe.`,
  ),
  read_only: failed(
    "EROFS: read-only file system, open",
    "It lies on a read-only file system. Point destination.path to a folder that can be written.",
  ),
  denied: failed(
    "EACCES: permission denied, open",
    `${DENIED} Give it write permission on the folder that holds destination.path, or point destination.path elsewhere.`,
  ),
  no_folder: failed(
    "ENOTDIR: not a directory, mkdir",
    "A part of destination.path that should be a folder is a file. Correct destination.path in the config.",
  ),
  vanished: failed(
    "ENOENT: no such file or directory, lstat",
    "The file or its folder has vanished. See that the folder of destination.path exists (a mounted drive may be gone) and run the same command again.",
  ),
  out_of_memory: failed(
    "Out of Memory Error: could not allocate block of size 256.0 KiB",
    "DuckDB needed more memory than it is given. Run fewer streams at a time, or give it more memory.",
  ),
  other_version: failed(
    "Serialization Error: the file was written by a newer version of DuckDB",
    "The file cannot be used by this version of DuckDB. Move it away: the next run starts from the newest published version if there is one, and from nothing otherwise.",
  ),
  damaged: failed(
    "IO Error: Corrupt database file: computed checksum 1 does not match stored checksum 2",
    "The file is damaged: cut short, or written over. It was left as it is. Move it away, and the .wal beside it: the next run starts from the newest published version if there is one, and from nothing otherwise.",
  ),
  invalidated: failed(
    "FATAL Error: database has been invalidated because of a previous fatal error",
    "DuckDB gave up on the file after an earlier error. Run the same command again: what was committed is safe.",
  ),
  system_refused: failed(
    "IO Error: Could not write file: Input/output error",
    "The system refused to read or write it. See that the disk is well and has room, then run the same command again.",
  ),

  damaged_replaced: template(
    { work_path, reason: "IO Error: Corrupt database file", kept_path: `${versions_folder}/damaged.duckdb` },
    ({ work_path, reason, kept_path }) =>
      `${work_path} was damaged (cut short, or written over: by a kill in the middle of a write, or by the disk; DuckDB says: ${reason}). This run goes on from what readers were given last and reads again what was stored since. The damaged file is kept as ${kept_path}; remove it when nobody needs it.`,
  ),
  out_of_place: template(
    { work_path, removed: true },
    ({ work_path, removed }) =>
      `Expected ${work_path} to stay while a run writes it, but somebody ${removed ? "removed" : "replaced"} it (the file, or its folder, has vanished). What this run stored in it since the last publish went with it, readers keep what they have. Run the same command again: it goes on from what they have.`,
  ),
  no_links: template(
    { path },
    ({ path }) =>
      `${path} was replaced, because this file system has no symbolic links: programs that have it open must reconnect to see what is new`,
  ),

  question_mark:
    "Expected a path without a question mark for the warehouse file, as DuckDB takes what follows it for parameters; got {path=/data/what?.duckdb}. Choose another file or folder.",
  nothing_there: template(
    { path },
    ({ path }) =>
      `Expected a warehouse at ${path}, but there is nothing yet. Run \`tributary sync\` first, or correct destination.path.`,
  ),
  path_is_link: template({ path, target: "/mnt/other.duckdb", direct: false }, ({ path, target, direct }) =>
    inTheWay(
      path,
      direct
        ? `it is a link (to ${target}), and with readers: direct the path is the database itself`
        : `it is a link to ${target}`,
    ),
  ),
  path_is_folder: template({ path }, ({ path }) => inTheWay(path, "it is a folder")),
  path_is_special: template({ path }, ({ path }) => inTheWay(path, "it is no regular file")),
  no_database: template({ path, file: path }, ({ path, file }) => inTheWay(path, `${file} is no DuckDB database`)),
  not_ours: template({ path, file: path, state_schema: "_tributary" }, ({ path, file, state_schema }) =>
    inTheWay(
      path,
      `${file} is a DuckDB database without the table ${state_schema}.warehouse, so another program's (or destination.state_schema was changed)`,
    ),
  ),
  second_path: template(
    { path, versions_folder, other_path: "/data/dw" },
    ({ path, versions_folder, other_path }) =>
      `Expected ${path} to be the only path to the versions in ${versions_folder}, but ${other_path} is a link into them as well. Nothing was changed: where both are warehouses, give destination.path of one of them another name; where it is one that was renamed, remove ${other_path}.`,
  ),
  unknown_file: template(
    { path, versions_folder },
    ({ path, versions_folder }) =>
      `Expected ${path} to be the link that tributary made, but somebody put a file there (a backup, perhaps), and ${versions_folder} holds a warehouse as well. Both were left as they are. To go on from the file, move the folder away; to go on from the folder, move the file away; then run the same command again.`,
  ),
});
