import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { access, constants, realpath, stat } from "node:fs/promises";
import { basename, extname, sep } from "node:path";
import { refuse } from "../../errors.ts";
import { codeOf } from "../../files.ts";
import type { Message } from "../../message.ts";
import { uploadMessages } from "./messages.ts";

/** The rules by which a file may be sent. */
export interface Inputs {
  /** Undefined: by the ending of each file's name. */
  readonly contentType: string | undefined;
  /** Files and folders of tributary's own, absolute: configuration, secrets, warehouse. */
  readonly guarded: readonly string[];
}

const OFFICE = "application/vnd.openxmlformats-officedocument";

/** Documents by the endings of their names. A file of another kind is sent only where its media type is given. */
const DOCUMENTS: Readonly<Record<string, string>> = {
  pdf: "application/pdf",
  ...{ csv: "text/csv", tsv: "text/tab-separated-values", txt: "text/plain", xml: "application/xml" },
  ...{ doc: "application/msword", docx: `${OFFICE}.wordprocessingml.document`, rtf: "application/rtf" },
  ...{ xls: "application/vnd.ms-excel", xlsx: `${OFFICE}.spreadsheetml.sheet` },
  ...{ odt: "application/vnd.oasis.opendocument.text", ods: "application/vnd.oasis.opendocument.spreadsheet" },
  ...{ eml: "message/rfc822", msg: "application/vnd.ms-outlook" },
  ...{ png: "image/png", jpg: "image/jpeg", jpeg: "image/jpeg", gif: "image/gif", webp: "image/webp" },
  ...{ tif: "image/tiff", tiff: "image/tiff", bmp: "image/bmp", heic: "image/heic" },
};

/** A media type for a file; undefined: none was given, and its name is no document's. */
export const mediaTypeOf = (file: string, { contentType }: Pick<Inputs, "contentType">): string | undefined =>
  contentType ?? DOCUMENTS[extname(file).slice(1).toLowerCase()];

/** Whether a file is one of tributary's own, or lies in such a folder, by whatever link it is named. */
export async function isOurs(file: string, guarded: readonly string[]): Promise<boolean> {
  const real = await realOf(file);
  const own = await Promise.all(guarded.map(realOf));
  return [...guarded, ...own].some(each => [file, real].some(path => path === each || path.startsWith(each + sep)));
}

const realOf = (path: string): Promise<string> => realpath(path).catch(() => path);

/** Why a file cannot be sent. */
export async function inputFault(file: string, inputs: Inputs): Promise<Message | undefined> {
  try {
    const entry = await stat(file);
    if (entry.isDirectory()) return uploadMessages.directory({ file });
    if (!entry.isFile()) return uploadMessages.not_a_regular_file({ file });
    if (await isOurs(file, inputs.guarded)) return uploadMessages.own_file({ file });
    if ([file, await realOf(file)].some(path => basename(path).startsWith("."))) return uploadMessages.hidden({ file });
    if (entry.size === 0) return uploadMessages.file_empty({ file });
    await access(file, constants.R_OK);
  } catch (error) {
    const reason = codeOf(error);
    return reason === "ENOENT"
      ? uploadMessages.file_not_found({ file })
      : uploadMessages.file_not_readable({ file, reason });
  }
  if (mediaTypeOf(file, inputs) !== undefined) return undefined;
  return uploadMessages.not_a_document({ file });
}

/** A file that would be sent, or why it would not. */
export interface PlannedUpload {
  readonly file: string;
  readonly bytes: number | null;
  readonly content_type: string | null;
  readonly error: string | null;
  /** Of the error. */
  readonly code: string | null;
}

/** The plan of an upload. File contents are not read. */
export const plannedUploads = (files: readonly string[], inputs: Inputs): Promise<readonly PlannedUpload[]> =>
  Promise.all(
    files.map(async file => {
      const fault = await inputFault(file, inputs);
      const bytes = (await stat(file).catch(() => undefined))?.size ?? null;
      const content_type = fault === undefined ? (mediaTypeOf(file, inputs) ?? null) : null;
      return { file, bytes, content_type, error: fault?.message ?? null, code: fault?.code ?? null };
    }),
  );

/** @throws ConfigError that names each of the files that cannot be sent */
export async function requireSendable(files: readonly string[], inputs: Inputs): Promise<void> {
  const faults = await Promise.all(files.map(file => inputFault(file, inputs)));
  refuse(faults.filter(fault => fault !== undefined));
}

/** A file's size and SHA-256, by reading it whole. */
export async function contentOf(path: string) {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of createReadStream(path)) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { path, bytes, sha256: hash.digest("hex") };
}
