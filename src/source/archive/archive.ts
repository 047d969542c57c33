import type { Clock } from "../../clock.ts";
import type { ArchiveConfig } from "../../config/config.ts";
import { TributaryError } from "../../errors.ts";
import { codeOf } from "../../files.ts";
import type { Message } from "../../message.ts";
import type { Redactor } from "../../secrets.ts";
import type { RawAnswer } from "../api.ts";
import type { About } from "./about.ts";
import { lineOf } from "./line.ts";
import { archiveMessages } from "./messages.ts";
import { Pieces, packer } from "./piece.ts";
import { folderOf } from "./places.ts";
import { Series } from "./series.ts";

/** The archive of one company's answers, as one run writes it. */
export interface Archive {
  /** Takes an answer that says what it is for; others are none that tables are made from. */
  keep(answer: RawAnswer): void;
  /** Resolves when every answer of the stream so far is on the disk, or with a warning why not where the config takes that for no failure. @throws TributaryError */
  kept(stream: string): Promise<Message | undefined>;
  close(): Promise<void>;
}

export interface ArchiveTools {
  readonly company: string;
  readonly run: string;
  readonly clock: Pick<Clock, "now">;
  /** Of the policy that answers went through before they get here; none: they are as they came. */
  readonly privacy?: string;
  /** Takes every secret out of a text that is going to be stored. */
  readonly redact: Redactor;
  /** Bytes of a file, compressed; 64 MB unless it says so. */
  readonly largest?: number;
}

export function openArchive({ path, onError }: Omit<ArchiveConfig, "keepMs">, tools: ArchiveTools): Archive {
  const { company, run, clock, redact, largest, privacy = "" } = tools;
  const writing = { pack: packer(), pieces: new Pieces(), largest };
  const open = new Map<string, Series>();
  const ended = new Set<string>();
  const unclean = new Set<string>();

  async function end(stream: string, reason: string): Promise<Message | undefined> {
    if (onError === "fail") throw new TributaryError(archiveMessages.not_written({ stream, reason }), 1);
    if (ended.has(stream)) return undefined;
    ended.add(stream);
    return archiveMessages.incomplete({ reason });
  }

  return {
    keep(answer) {
      const about = answer.about as Partial<About> | undefined;
      const { stream } = about ?? {};
      if (about === undefined || stream === undefined || ended.has(stream)) return;
      const { confirms, control, context, parent } = about;
      const found = answer.status < 300;
      // That a missing row is still there changes no table; and a 404 says something only of what was asked for by its name.
      if (found ? confirms === true && control !== true : (confirms ?? context ?? parent) === undefined) return;
      const line = lineOf(answer, about, { run, company, at: new Date(clock.now()).toISOString(), privacy }, redact);
      const series = open.get(stream) ?? new Series(folderOf(path, company, stream), run, writing);
      open.set(stream, series);
      if (line === undefined) unclean.add(stream);
      else series.add(line);
    },
    async kept(stream) {
      if (ended.has(stream)) return undefined;
      if (unclean.has(stream)) return end(stream, "a secret of the configuration stands across values of one of them.");
      try {
        await open.get(stream)?.kept();
        return undefined;
      } catch (error) {
        return end(
          stream,
          `${path} cannot be written (${codeOf(error) ?? (error as Error).message}): see to its rights and its free space.`,
        );
      }
    },
    async close() {
      // Whoever needed a line has waited for it; what is written only now is a bonus.
      for (const series of open.values()) await series.close().catch(() => undefined);
    },
  };
}
