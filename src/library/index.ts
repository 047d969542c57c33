/*
 * What the package offers to programs. The commands are built on the same functions; docs/api.md is made of their comments.
 */
export type { Kind } from "../catalog/columns.ts";
export {
  ApiError,
  type ApiFailure,
  ConfigError,
  DestinationError,
  type ExitCode,
  LockedError,
  StoppedError,
  TributaryError,
} from "../errors.ts";
export type { LogLevel } from "../logging.ts";
export type { Fields, Message } from "../message.ts";
export type { ChangesState } from "../operations/changes/changes.ts";
export type { UploadEvent, UploadedFile } from "../operations/upload/upload.ts";
export type {
  ColumnDescription,
  ModeName,
  StreamDescription,
  TableDescription,
} from "../outputs/dictionary/stream_description.ts";
export type { RunReport, RunSnapshot, StreamReport } from "../sync/run/report.ts";
export { type Change, type ReadOptions, read } from "./read.ts";
export type { ProgressView, Run, WatchOptions, WorkOptions } from "./run.ts";
export { streams } from "./streams.ts";
export { type SyncOptions, sync } from "./sync.ts";
export { type UploadOptions, type UploadReport, upload } from "./upload.ts";
export { type LogEntry, openWarehouse, type Warehouse, type WarehouseOptions } from "./warehouse.ts";
