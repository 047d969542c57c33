import { type ApiFailure, adviceFor } from "../errors.ts";
import { catalog, template } from "../message.ts";
import type { Method } from "./api.ts";

/** `got` is the answer in words; `advice` stands in place of that of its kind. */
const failed = (failure: ApiFailure, got: string, status?: number, service_code?: string) =>
  template(
    {
      method: "GET" as Method,
      path: "/po/PO-1",
      status,
      service_code,
      request_id: undefined as string | undefined,
      attempts: 1,
      got,
      advice: undefined as string | undefined,
    },
    ({ method, path, status, request_id, attempts, got, advice }) => {
      const id = request_id === undefined ? "" : ` (request_id ${request_id})`;
      const sent = attempts === 1 ? "" : `, after ${attempts} requests`;
      return `Expected data from ${method} ${path}, got ${got}${id}${sent}. ${advice ?? adviceFor(failure, status)}`;
    },
  );

export const sourceMessages = catalog("source", {
  unauthorized: failed("unauthorized", "status 401 UNAUTHORIZED: invalid key", 401, "UNAUTHORIZED"),
  forbidden: failed("forbidden", "status 403 FORBIDDEN: not for this key", 403, "FORBIDDEN"),
  not_found: failed("not_found", "status 404 NOT_FOUND: no such order", 404, "NOT_FOUND"),
  invalid: failed("invalid", "status 422 VALIDATION_ERROR: unknown status", 422, "VALIDATION_ERROR"),
  limited: failed("limited", "status 429; it wants a pause of 1 h 00 min, more than max_wait (10 min 00 s)", 429),
  unavailable: failed("unavailable", "no complete answer: connect ECONNREFUSED 127.0.0.1:443"),
  malformed: failed("malformed", 'status 200 without "data"', 200),
  too_large: failed("too_large", "more than 67108864 bytes in one body"),
  redirected: failed("redirected", "status 302, a redirect to https://login.example.com", 302),
  unconfirmed: failed("unconfirmed", "no complete answer: other side closed"),
  clock: failed(
    "clock",
    "the time 2026-01-31T04:00:00.000Z when this machine's clock was at 2026-02-02T04:00:00.000Z, as in the answer before",
    200,
  ),
  budget: failed("budget", "nothing: as many requests as --max-requests allows were sent"),
  unexpected_pages:
    "Expected all of {path=/sites} in one answer, but has_more is true: nothing of it was loaded. The next run tries again; if it stays so, this endpoint has pages now, and tributary needs an update that reads them.",
  spoilt_row: template(
    {
      path: "/po",
      page: 3,
      cursor: "WzEyXQ",
      offset: 60,
      rows: 100,
      reason: "Expected data from GET /po, got status 500",
    },
    ({ path, page, cursor, offset, rows, reason }) =>
      `Expected every row of ${path}, but the service fails at one: row ${offset + 1} of page ${page} (${rows} rows), by cursor ${JSON.stringify(cursor)}. Tell the service's operator. ${reason}`,
  ),
  endless_pages:
    "Expected pages of {path=/po} that end, but at page {page=4} {reason=the same next_cursor came twice}: the listing cannot be completed. The next run tries again; if it stays so, tell the service's operator.",
});
