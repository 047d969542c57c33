import { resolve } from "node:path";
import { ConfigError, type ExitCode } from "../errors.ts";
import type { Message } from "../message.ts";
import type { Followed } from "../operations/upload/follow.ts";
import type { Inputs } from "../operations/upload/inputs.ts";
import type { UploadEvent, UploadedFile } from "../operations/upload/upload.ts";
import { type Given, uploadOptions } from "../options/options.ts";
import { runDefaults } from "./connector.ts";
import { libraryMessages } from "./messages.ts";
import { begin, checked, type Run, type WatchOptions } from "./run.ts";
import { type OpenWarehouse, opened, type Warehouse } from "./warehouse.ts";

/** How files are uploaded. */
export interface UploadOptions extends WatchOptions<readonly UploadEvent[]>, Given<typeof uploadOptions> {}

/** What became of the files. */
export interface UploadReport {
  readonly exit_code: ExitCode;
  /** The run that loaded what they became. */
  readonly run_id: string | null;
  readonly warnings: readonly Message[];
  readonly uploads: readonly UploadedFile[];
  /** Documents that are not processed as far as is said, with the status that was seen last. */
  readonly pending: readonly { readonly doc_id: string; readonly status: string | null }[];
  /** Documents whose processing failed, with their last status. */
  readonly failed: readonly { readonly doc_id: string; readonly status: string }[];
  /** What they became, by table. */
  readonly rows: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;
}

const nothing: Followed = { pending: new Map(), failed: new Map(), rows: {} };

/** The company that the documents go to. @throws ConfigError where several companies could be meant */
export async function uploadingCompany({ loaded, companies }: OpenWarehouse, named: string | undefined) {
  const { companiesOf } = await import("../sync/run/run.ts");
  const [company, ...others] = companiesOf(loaded.config, named);
  if (others.length > 0) throw new ConfigError(libraryMessages.company_not_named({ companies }));
  return company!;
}

/** Which files may be sent, and as what. */
export async function uploadInputs({ loaded }: OpenWarehouse, contentType: string | undefined): Promise<Inputs> {
  const { filesOf } = await import("../warehouse/connect/open.ts");
  const { destination, archive } = loaded.config;
  const own = [resolve(loaded.file), ...loaded.mounted, ...filesOf(destination)];
  return { contentType, guarded: archive === undefined ? own : [...own, archive.path] };
}

/**
 * Uploads files to the service, each content once, and resumes an upload that was interrupted. Where the service may have created a document
 * but its answer was lost, the file is reported as `unknown` and not sent again.
 * @throws ConfigError for files that cannot be sent, before anything is; LockedError, DestinationError, StoppedError
 */
export const upload = (
  warehouse: Warehouse,
  files: readonly string[],
  options: UploadOptions = {},
): Run<readonly UploadEvent[], UploadReport> => uploadEach(warehouse, files, options);

/** The same; `through` is called for each file once its outcome is known. */
export function uploadEach(
  warehouse: Warehouse,
  files: readonly string[],
  options: UploadOptions,
  through?: (sent: UploadedFile) => Promise<void>,
): Run<readonly UploadEvent[], UploadReport> {
  const own = opened(warehouse);
  return begin(own, options, async (tools, show) => {
    const { company: named, contentType, again = false, waitMs } = checked(uploadOptions, options);
    const { uploadFiles } = await import("../operations/upload/upload.ts");
    const { followUploads } = await import("../operations/upload/follow.ts");
    const { exitCodeOfAll } = await import("../sync/run/report.ts");
    const { uploads: flow } = await import("../../streams/uploads.ts");
    const { config } = own.loaded;
    const company = await uploadingCompany(own, named);
    const order = {
      ...{ ...(await runDefaults()), ...(await uploadInputs(own, contentType)) },
      ...{ config, flow, company, again, lockWaitMs: waitMs ?? 0 },
      files: files.map(file => resolve(file)),
    };
    const steps = new Map<string, UploadEvent>();
    show({ snapshot: () => [...steps.values()] });
    const tell = (event: UploadEvent) => {
      steps.set(event.file, event);
      if (event.step === "done") tools.log.info(libraryMessages.file_uploaded(), { file: event.file });
      else tools.log.debug(event.step, { file: event.file });
    };
    const met: Message[] = [];
    const warn = (warning: Message) => void met.push(warning);
    const uploads = await uploadFiles(order, { ...tools, tell, warn, through });
    const ids = [...new Set(uploads.flatMap(({ doc_id }) => doc_id ?? []))];
    const [since] = uploads.flatMap(({ sent_at }) => sent_at ?? []).toSorted();
    const isFollowed = waitMs !== undefined && since !== undefined;
    const runTools = { ...tools, watch: () => undefined };
    const followed = isFollowed ? await followUploads(order, runTools, ids, { since, waitMs }) : nothing;
    const pending = [...followed.pending].map(([doc_id, status]) => ({ doc_id, status }));
    const failed = [...followed.failed].map(([doc_id, status]) => ({ doc_id, status }));
    const late = libraryMessages.uploads_not_processed({ wait_ms: waitMs ?? 0, pending });
    const warnings = [
      ...met,
      ...(pending.length === 0 ? [] : [followed.unread ?? late]),
      ...(failed.length === 0 ? [] : [libraryMessages.uploads_failed({ failed })]),
    ];
    const codes = uploads.map(({ exit_code }) => exit_code);
    const exit_code = exitCodeOfAll([
      ...codes,
      ...(followed.sync === undefined ? [] : [followed.sync.exit_code]),
      ...(failed.length === 0 ? [] : [1 as const]),
      ...(pending.length === 0 ? [] : [5 as const]),
    ]);
    const { sync, rows } = followed;
    return { exit_code, run_id: sync?.run_id ?? null, warnings, uploads, pending, failed, rows };
  });
}
