import { catalog, template } from "../message.ts";

interface Run {
  readonly run_id: string;
  readonly pid: number;
  readonly host: string;
  readonly command: string;
}

export interface LockHolder extends Run {
  readonly since: string;
}

export const runInWords = ({ run_id, pid, host, command }: Run, quote = ""): string =>
  `run ${run_id} (process ${pid} on ${host}, ${quote}${command}${quote})`;

export const processInWords = (pid: number | undefined): string =>
  pid === undefined ? "another process" : `process ${pid}`;

const holding = (holder: LockHolder | undefined, otherwise: string): string =>
  holder === undefined ? otherwise : `${runInWords(holder)} since ${holder.since}`;

const run = {
  ...{ run_id: "20260331T020000-4f1c", pid: 4711, host: "loader-1", command: "tributary sync" },
  since: "2026-03-31T02:00:05.000Z",
};

export const lockMessages = catalog("lock", {
  held: template(
    { lock_group: "orders", company: "acme", holder: run as LockHolder | undefined },
    ({ lock_group, company, holder }) =>
      `${lock_group} of ${company} is held by ${holding(holder, "another session that left no name")}. Nothing was done; wait until that run has ended, or give --wait 30m.`,
  ),
  lost: template(
    { lock_groups: ["orders", "items"], company: "acme", holder: run as LockHolder | undefined },
    ({ lock_groups, company, holder }) =>
      `Expected this run to hold ${lock_groups.join(", ")} of ${company} still, but its locks are gone (now: ${holding(holder, "nobody")}). Nothing was written; run the same command again.`,
  ),
  file_held: template(
    { path: "/data/dw.duckdb", ...run },
    ({ path, since, ...holder }) =>
      `Expected ${path} to be free, but ${runInWords(holder, "`")} has held it since ${since}. Nothing was done; wait for it to end, or give --wait 30m to a command that has it.`,
  ),
  file_open: template(
    { path: "/data/dw.duckdb", pid: 4711 as number | undefined },
    ({ path, pid }) =>
      `Expected ${path} to be free, but ${processInWords(pid)}, which is no known run, has it open. Nothing was done; close it there, then run the same command again.`,
  ),
});
