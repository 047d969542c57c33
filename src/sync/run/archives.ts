import type { ArchiveConfig } from "../../config/config.ts";
import type { Log } from "../../logging.ts";
import { type Archive, type ArchiveTools, openArchive } from "../../source/archive/archive.ts";
import { pruneArchive } from "../../source/archive/pruning.ts";

/** Where a run keeps the answers of its companies. */
export interface Archives {
  /** Undefined: nowhere. */
  of(company: string): Archive | undefined;
  /** Closes the files and removes those that are too old. */
  end(): Promise<void>;
}

const none: Archives = { of: () => undefined, end: async () => undefined };

export function openArchives(
  config: ArchiveConfig | undefined,
  { log, ...tools }: Omit<ArchiveTools, "company"> & { readonly log: Log },
): Archives {
  if (config === undefined) return none;
  const open = new Map<string, Archive>();
  return {
    of(company) {
      const archive = open.get(company) ?? openArchive(config, { ...tools, company });
      open.set(company, archive);
      return archive;
    },
    async end() {
      for (const archive of open.values()) await archive.close();
      try {
        const removed = await pruneArchive(config.path, tools.clock.now() - config.keepMs);
        if (removed > 0) log.debug({ files: removed }, "removed from the archive what was older than archive.keep");
      } catch (error) {
        log.warn({ err: error }, `${config.path}: files older than archive.keep could not be removed`);
      }
    },
  };
}
