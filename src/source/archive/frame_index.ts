import { crc32 } from "node:zlib";
import { z } from "zod";
import { parsedJson } from "../../files.ts";
import { frameToSkip } from "./frames.ts";

/** Which frame an index belongs to: the one right before it, as it stands in the file. */
const belonging = z.object({ v: z.literal(1), bytes: z.number(), crc32: z.number() });

/**
 * An index of a frame: the head of each of its lines. Readers that look for certain answers need not unpack the frame itself. The
 * index is a frame that decoders skip. `pack` compresses its text.
 */
export async function indexOf(
  frame: Buffer,
  heads: readonly string[],
  pack: (text: Buffer) => Promise<Buffer>,
): Promise<Buffer> {
  const its = JSON.stringify({ v: 1, bytes: frame.length, crc32: crc32(frame) } satisfies z.infer<typeof belonging>);
  return frameToSkip(await pack(Buffer.from([its, ...heads].join("\n"))));
}

/** The heads of a frame's lines as they stand in the text of an index; undefined: it is none, or another frame's, or the frame is damaged. */
export function headsIn(index: string, frame: Buffer): readonly string[] | undefined {
  const [first = "", ...heads] = index.split("\n");
  const its = belonging.safeParse(parsedJson(first));
  return its.success && its.data.bytes === frame.length && its.data.crc32 === crc32(frame) ? heads : undefined;
}
