import { readdir, readlink, symlink } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { codeOf } from "../../../files.ts";

/*
 * Versions of what readers are given are folders side by side, named by their moment; a symbolic link leads to one of them.
 */

const version = /^(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d\.\d{3}Z)$/;
/** Answers of systems that have no symbolic links, or keep them from ordinary users. */
const noLinks: ReadonlySet<string | undefined> = new Set(["EPERM", "ENOSYS", "ENOTSUP", "EOPNOTSUPP"]);

/** Makes a symbolic link; passed in because not every system can. */
export type MakeLink = (target: string, path: string) => Promise<void>;
export const systemLink: MakeLink = (target, path) => symlink(target, path);

export const lacksLinks = (error: unknown): boolean => noLinks.has(codeOf(error));

export const isVersion = (name: string): boolean => version.test(name);

/** Names of the versions in a folder, oldest first. */
export async function namesIn(home: string): Promise<string[]> {
  return (await readdir(home)).filter(isVersion).sort();
}

export function versionMoment(name: string): number {
  const [, hour, minute, second] = version.exec(name) ?? [];
  return Date.parse(`${hour}:${minute}:${second}`);
}

/** The name of a version made now, later than all there are. */
export function nameAfter(now: number, names: readonly string[]): string {
  const last = names.at(-1);
  const moment = last === undefined ? now : Math.max(now, versionMoment(last) + 1);
  return new Date(moment).toISOString().replaceAll(":", "-");
}

/** Where a symbolic link leads, absolute; undefined for what is none. */
export async function targetOf(path: string): Promise<string | undefined> {
  const target = await readlink(path).catch(() => undefined);
  return target === undefined ? undefined : resolve(dirname(path), target);
}

/** The name of the version that a folder is, among those in `home`. */
export function nameIn(home: string, folder: string): string | undefined {
  return dirname(folder) === home && isVersion(basename(folder)) ? basename(folder) : undefined;
}
