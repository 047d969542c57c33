import { describe, expect, test } from "vitest";
import { ApiError, DestinationError } from "../../../src/errors.ts";
import type { Log } from "../../../src/logging.ts";
import { announce } from "../../../src/sync/run/announcements.ts";
import { logTo, sentence } from "../../support/log.ts";
import { eitherWarehouse } from "../../support/warehouse.ts";
import { told } from "../answers.ts";
import { bills, forbidden, orders } from "../vendors.ts";

function listening(): { readonly log: Log; readonly lines: string[] } {
  const lines: string[] = [];
  return { log: logTo((text, _facts, level) => void lines.push(`${level} ${text}`)), lines };
}

describe("the log of a run", () => {
  test("says a warning in full, and counts those of the run before", () => {
    const { log, lines } = listening();
    const announcements = announce(log, ["items: old.", "orders: old.", "gone."].map(sentence));
    announcements.warn(["items: old.", "items: new."].map(sentence));
    announcements.warn(["items: old.", "orders: old.", "items: new."].map(sentence));
    announcements.end();
    expect(lines).toEqual([
      "warn items: new.",
      "warn 2 warnings as in the run before: `tributary status` shows them in full.",
    ]);
  });

  test("says a failure that several streams of a company meet for the first, and none again at the end", () => {
    const { log, lines } = listening();
    const announcements = announce(log, []);
    const [acme, beta] = [announcements.failuresOf(log), announcements.failuresOf(log)];
    const fault = (path: string, status = 500) =>
      new ApiError(sentence(`GET ${path} got ${status}`), { failure: "unavailable", path, status });
    const own = (path: string) => new ApiError(sentence(`${path} is odd`), { failure: "malformed", path, status: 200 });
    const odd = [own("/x"), own("/y")];
    const errors = [fault("/a"), fault("/b"), fault("/c", 502), ...odd, new DestinationError(sentence("full"))];
    for (const error of errors) acme(error, {});
    beta(fault("/d"), {});
    for (const error of [...errors, new DestinationError(sentence("not published"))]) announcements.failed(error);
    announcements.end();
    expect(lines).toEqual([
      "warn GET /a got 500",
      "debug GET /b got 500",
      "warn GET /c got 502",
      "warn /x is odd",
      "warn /y is odd",
      "warn full",
      "warn GET /d got 500",
      "warn not published",
    ]);
  });
});

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("an equal warning of several streams is one line that names them, in full in the next report too", async () => {
    const place = await told(make, [orders, bills], {
      "/orders": () => forbidden,
      "/bills": () => forbidden,
    });
    const line = expect.stringMatching(/^orders, bills: not available to this key \(403\)/);
    const warning = { code: "stream.not_available", message: line, fields: { streams: ["orders", "bills"] } };
    const warnings = () => place.said.filter(text => /not available|as in the run before/.test(text));
    expect((await place.run()).warnings).toMatchObject([warning]);
    expect(warnings()).toEqual([line]);
    place.said.length = 0;
    expect((await place.run()).warnings).toMatchObject([warning]);
    expect(warnings()).toEqual(["1 warning as in the run before: `tributary status` shows them in full."]);
  });
});
