-- What each run did with each stream, and how well: counts, time and requests, the share of rows that could not be stored, and whether table and service have the same number of rows.
-- key: run_id, _company, stream
-- column run_id: Identifier of the run; its log lines carry it too.
-- column _company: Name that the configuration gives the company whose stream it was.
-- column stream: Name of the stream, as `tributary streams` lists it.
-- column command: What was called: `tributary sync`, backfill or replay, or `tributary schedule` with the schedule's name.
-- column version: Version of tributary that ran.
-- column run_status: How the run as a whole ended: succeeded, warning, failed or stopped; running while it lasts.
-- column run_warnings: JSON list of the sentences the run warned with, about all its streams.
-- column status: How it ended for this stream: succeeded, warning, incomplete, failed, stopped or skipped; running while it lasts.
-- column started_at: When the run turned to the stream.
-- column finished_at: When it was through with it; null while it works on it.
-- column duration_seconds: Seconds from start to end, waits included; null while it works on it.
-- column requests: Requests sent for the stream, repeated tries included.
-- column retries: Requests that were a further try of one that had failed.
-- column pages: Pages of rows that the service was asked for and answered.
-- column bytes: Size of the answers in bytes, decompressed.
-- column rows_read: Rows that the service sent.
-- column inserted: Rows that were new, or came back.
-- column updated: Rows with other values than before.
-- column unchanged: Rows that were as before.
-- column deleted: Rows that the service no longer lists and that were marked so.
-- column missing: Rows that were not seen and, without proof that they are gone, stay.
-- column rejected: Rows that could not be stored.
-- column reject_share: Rejected rows as a share, from 0 to 1, of the rows read; null where none was read.
-- column problems: Values that did not fit their column and are null there.
-- column rounded: Values stored otherwise than they came: decimals rounded to nine places, empty texts, days in a column of times.
-- column service_rows: Rows that the service has, by its own total or by counting; null where nobody could tell.
-- column table_rows: Live rows of the stream's main table after the run.
-- column difference: Table less service; 0 says that both have as many rows, null where one side is not known.
-- column difference_reason: Why the two differ, or how far the number can be trusted, in words.
-- column error: Why it failed, in words; null where it did not.
select
  s.run_id,
  s.company as _company,
  s.stream,
  r.command,
  r.version,
  r.status as run_status,
  r.warnings as run_warnings,
  s.status,
  s.started_at,
  s.finished_at,
  cast(extract(epoch from (s.finished_at - s.started_at)) as decimal(18, 3)) as duration_seconds,
  s.requests,
  s.retries,
  s.pages,
  s.bytes,
  s.rows_read,
  s.inserted,
  s.updated,
  s.unchanged,
  s.deleted,
  s.missing,
  s.rejected,
  cast(s.rejected as double precision) / nullif(s.rows_read, 0) as reject_share,
  s.problems,
  s.rounded,
  s.service_rows,
  s.table_rows,
  s.difference,
  s.difference_reason,
  s.error
from _tributary.stream_runs s
join _tributary.runs r on r.run_id = s.run_id
