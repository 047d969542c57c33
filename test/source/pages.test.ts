import { describe, expect, test } from "vitest";
import { readPages } from "../../src/source/pages.ts";
import { collect, numbers, parameters, request, spoiltNumbers } from "./listing.ts";
import { client, failure, type Handler, json, lastPage, serve } from "./service.ts";

describe("a listing", () => {
  test("is read to its end, each page with the cursor that fetched it and the next", async () => {
    await using service = await serve(numbers(250));
    await using api = client(service.url);
    const pages = await collect(readPages(api, request));
    expect(pages.map(page => [page.cursor, page.nextCursor, (page.data as number[]).length])).toEqual([
      [undefined, "100", 100],
      ["100", "200", 100],
      ["200", undefined, 50],
    ]);
    expect(pages.every(page => page.requests === 1 && page.retries === 0 && page.bytes > 0 && page.date)).toBe(true);
    expect(service.requests.map(each => each.url)).toEqual([
      "/api/v1/po?sort_by=a&limit=100",
      "/api/v1/po?sort_by=a&limit=100&cursor=100",
      "/api/v1/po?sort_by=a&limit=100&cursor=200",
    ]);
  });

  test("goes on at a cursor, with pages smaller than asked for", async () => {
    await using service = await serve(numbers(30, { size: 10 }));
    await using api = client(service.url);
    const pages = await collect(readPages(api, { ...request, cursor: "10" }));
    expect(pages.flatMap(page => page.data)).toEqual(Array.from({ length: 20 }, (_, index) => index + 10));
  });

  test("an empty page that promises more is no end", async () => {
    await using service = await serve((response, incoming) => {
      const cursor = parameters(incoming).get("cursor");
      const next = cursor === null ? "a" : cursor === "a" ? "b" : null;
      const data = cursor === "b" ? [1] : [];
      json(response, 200, { data, pagination: { next_cursor: next, has_more: next !== null, limit: 100 } });
    });
    await using api = client(service.url);
    expect((await collect(readPages(api, request))).map(page => page.data)).toEqual([[], [], [1]]);
  });

  test("a next_cursor without has_more is its end", async () => {
    await using service = await serve(response =>
      json(response, 200, { data: [1], pagination: { next_cursor: "x", has_more: false, limit: 100 } }),
    );
    await using api = client(service.url);
    expect((await collect(readPages(api, request))).map(page => page.nextCursor)).toEqual([undefined]);
  });

  test("is read by who asks for it, but where something is taken out of answers", async () => {
    await using service = await serve(numbers(1));
    const read = (body: Buffer, parse: (json: Buffer) => unknown) => {
      const page = parse(body) as { data: unknown };
      return { ...page, data: ["read"] };
    };
    for (const [settings, data] of [
      [{}, ["read"]],
      [{ treat: () => undefined }, [0]],
    ] as const) {
      await using api = client(service.url, settings);
      expect((await collect(readPages(api, { ...request, read }))).map(page => page.data)).toEqual([data]);
    }
  });

  test("counts the requests a page cost", async () => {
    await using service = await serve((response, incoming, count) =>
      count === 1 ? failure(response, 500, "OOPS") : numbers(150)(response, incoming, count),
    );
    await using api = client(service.url);
    const pages = await collect(readPages(api, request));
    expect(pages.map(page => [page.requests, page.retries])).toEqual([
      [2, 1],
      [1, 0],
    ]);
  });
});

describe("a listing that cannot be completed is malformed", () => {
  test.each([
    ["at once", ["a", "a"]],
    ["after a detour", ["a", "b", "c", "a"]],
  ])("the same cursor twice, %s", async (_name, cursors) => {
    await using service = await serve((response, _request, count) =>
      json(response, 200, { data: [count], pagination: { next_cursor: cursors[count - 1], has_more: true, limit: 1 } }),
    );
    await using api = client(service.url);
    const seen: unknown[] = [];
    const reading = (async () => {
      for await (const page of readPages(api, request)) seen.push(page.data);
    })();
    await expect(reading).rejects.toMatchObject({
      failure: "malformed",
      message: expect.stringContaining("cannot be completed"),
    });
    expect(seen).toHaveLength(cursors.length);
    expect(service.requests).toHaveLength(cursors.length);
  });

  test.each([[null], [""], [undefined]])("has_more with next_cursor %j", async next_cursor => {
    await using service = await serve(response =>
      json(response, 200, { data: [1], pagination: { next_cursor, has_more: true, limit: 1 } }),
    );
    await using api = client(service.url);
    await expect(collect(readPages(api, request))).rejects.toThrow(/cannot be completed/);
    expect(service.requests).toHaveLength(1);
  });
});

describe("what is not paged", () => {
  const complete = { path: "/vendors", query: {}, limit: 100, paged: false };

  test("is one request without a limit, whatever a pagination block says about the end", async () => {
    await using service = await serve((response, _request, count) =>
      json(response, 200, { data: [1], ...(count === 1 ? {} : { pagination: { next_cursor: "x", has_more: false } }) }),
    );
    await using api = client(service.url);
    for (let index = 0; index < 2; index += 1) {
      expect(await collect(readPages(api, complete))).toMatchObject([{ data: [1], nextCursor: undefined }]);
    }
    expect(service.requests.map(each => each.url)).toEqual(["/api/v1/vendors", "/api/v1/vendors"]);
  });

  test("pages on like any listing when it says there is more", async () => {
    await using service = await serve(numbers(60));
    await using api = client(service.url);
    const pages = await collect(readPages(api, complete));
    expect(pages.map(page => (page.data as number[]).length)).toEqual([25, 25, 10]);
  });

  test.each([
    ["beside the rows", { rows: [1], has_more: true, next_cursor: "b" }, {}],
    ["beside the rows, without has_more", { rows: [1], next_cursor: "b" }, {}],
    ["beside the data", [1], { has_more: true, next_cursor: "b" }],
    ["in a block without has_more", [1], { pagination: { next_cursor: "b" } }],
  ])("so it does when the next page is named %s", async (_, data, beside) => {
    await using service = await serve((response, incoming) => {
      if (parameters(incoming).get("cursor") === "b") json(response, 200, { data: [2], pagination: lastPage });
      else json(response, 200, { data, ...beside });
    });
    await using api = client(service.url);
    expect(await collect(readPages(api, complete))).toMatchObject([{ data, nextCursor: "b" }, { data: [2] }]);
  });
});

describe("a page that the service fails at", () => {
  const limits = (service: { readonly requests: readonly { readonly url: string }[] }) =>
    service.requests.map(each => Number(new URLSearchParams(each.url.split("?")[1]).get("limit")));

  test("is requested with 25 rows, and behind the second one all are; no row is lost", async () => {
    await using service = await serve((response, incoming, count) =>
      Number(parameters(incoming).get("limit")) > 25
        ? failure(response, 504, "TIMEOUT")
        : numbers(300)(response, incoming, count),
    );
    await using api = client(service.url);
    const pages = await collect(readPages(api, request));
    expect(pages.flatMap(page => page.data)).toEqual(Array.from({ length: 300 }, (_, index) => index));
    expect(limits(service).filter(limit => limit === 25)).toHaveLength(12);
    expect(limits(service).filter(limit => limit === 100)).toHaveLength(12);
    expect(pages.reduce((sum, page) => sum + page.requests, 0)).toBe(24);
  });

  test("is requested with 25, 5 and 1, and the row that spoils it is named by cursor and place", async () => {
    await using service = await serve((response, incoming, count) => {
      const from = Number(parameters(incoming).get("cursor") ?? 0);
      const isSpoilt = from <= 160 && from + Number(parameters(incoming).get("limit")) > 160;
      return isSpoilt ? failure(response, 500, "BAD_ROW") : numbers(300)(response, incoming, count);
    });
    await using api = client(service.url);
    const seen: unknown[] = [];
    const reading = (async () => {
      for await (const page of readPages(api, request)) seen.push(...(page.data as number[]));
    })();
    const fields = { page: 2, cursor: "160", offset: 60, rows: 100 };
    await expect(reading).rejects.toMatchObject({ failure: "malformed", code: "source.spoilt_row", fields });
    expect(seen).toEqual(Array.from({ length: 160 }, (_, index) => index));
    expect([...new Set(limits(service))]).toEqual([100, 25, 5, 1]);
  });

  describe.each(["NaN", '"a\tb"', "1.2.3", '"half'])("where a row holds %s", text => {
    const skipping = { ...request, skips: true };
    const spoil = (bad: readonly number[]) => (row: number) => (bad.includes(row) ? text : String(row));

    test("passes the row over with its text and place, and goes on behind it with pages as before", async () => {
      const bad = [60, 61, 250];
      await using service = await serve(spoiltNumbers(300, spoil(bad)));
      await using api = client(service.url);
      const pages = await collect(readPages(api, skipping));
      const place = (offset: number) => ({ text: `[${text}]`, offset, rows: 100 });
      expect(pages.flatMap(({ skipped }) => skipped ?? [])).toEqual([
        { ...place(60), cursor: "60" },
        { ...place(61), cursor: "61" },
        { ...place(86), cursor: "250" },
      ]);
      const rows = pages.flatMap(page => (page.data as { rows: number[] } | undefined)?.rows ?? []);
      expect(rows).toEqual(Array.from({ length: 300 }, (_, row) => row).filter(row => !bad.includes(row)));
      expect(limits(service).at(-1)).toBe(100);
    });

    test("keeps no text where fields are taken out of answers, and passes nothing over unless that is wanted", async () => {
      await using service = await serve(spoiltNumbers(300, spoil([60])));
      await using treating = client(service.url, { treat: () => undefined });
      const pages = await collect(readPages(treating, skipping));
      expect(pages.flatMap(({ skipped }) => skipped ?? [])).toMatchObject([{ text: undefined, cursor: "60" }]);
      await using api = client(service.url);
      await expect(collect(readPages(api, request))).rejects.toMatchObject({ code: "source.spoilt_row" });
    });
  });

  test.each([
    ["the service fails at it", (response: Parameters<Handler>[0]) => failure(response, 500, "BAD_ROW")],
    ["its text is cut", (response: Parameters<Handler>[0]) => response.end('{"data":{"rows":[NaN]},"pagina')],
    [
      "the page may hold more rows",
      (response: Parameters<Handler>[0]) =>
        response.end('{"data":[NaN,2],"pagination":{"next_cursor":"62","has_more":true,"limit":2}}'),
    ],
    [
      "its block of pages is a row's own",
      (response: Parameters<Handler>[0]) =>
        response.end('{"data":[{"of":NaN,"pagination":{"next_cursor":"62","has_more":true,"limit":1}}]}'),
    ],
  ])("passes no row over where %s", async (_, answer) => {
    await using service = await serve((response, incoming, count) => {
      const [from, limit] = ["cursor", "limit"].map(name => Number(parameters(incoming).get(name) ?? 0));
      if (from! <= 60 && from! + limit! > 60) return answer(response);
      numbers(300)(response, incoming, count);
    });
    await using api = client(service.url);
    const reading = collect(readPages(api, { ...request, skips: true }));
    await expect(reading).rejects.toMatchObject({ code: "source.spoilt_row", fields: { cursor: "60" } });
  });

  test("the 21st row that is no JSON ends the reading", async () => {
    await using service = await serve(spoiltNumbers(300, row => (row % 5 === 4 ? "NaN" : String(row))));
    await using api = client(service.url);
    const reading = collect(readPages(api, { ...request, skips: true }));
    await expect(reading).rejects.toMatchObject({ code: "source.spoilt_row", fields: { cursor: "104" } });
  });

  test("is the service's failure where no smaller page comes either", async () => {
    await using service = await serve(response => failure(response, 500, "DOWN"));
    await using api = client(service.url);
    await expect(collect(readPages(api, request))).rejects.toMatchObject({ failure: "unavailable", attempts: 24 });
  });
});

describe("a page above the body ceiling", () => {
  const heavy: Handler = (response, incoming, count) => {
    const query = parameters(incoming);
    const from = Number(query.get("cursor") ?? 0);
    // Row 100 alone is heavy: only a page of five or less that holds it fits.
    const limit = Number(query.get("limit"));
    const holds = from <= 100 && 100 < from + limit;
    if (holds && limit > 5) json(response, 200, { data: "x".repeat(5000) });
    else numbers(300)(response, incoming, count);
  };

  test("is asked for again with 25, 5, 1; then the first limit again; no row is lost", async () => {
    await using service = await serve(heavy);
    await using api = client(service.url, { maxBodyBytes: 2000 });
    const pages = await collect(readPages(api, request));
    expect(pages.flatMap(page => page.data)).toEqual(Array.from({ length: 300 }, (_, index) => index));
    expect(pages.map(page => [(page.data as number[]).length, page.requests, page.retries])).toEqual([
      [100, 1, 0],
      [5, 3, 2],
      [100, 1, 0],
      [95, 1, 0],
    ]);
    expect(service.requests.map(each => new URLSearchParams(each.url.split("?")[1]).get("limit"))).toEqual([
      "100",
      "100",
      "25",
      "5",
      "100",
      "100",
    ]);
  });

  test("that holds one row is an error", async () => {
    await using service = await serve(response => json(response, 200, { data: "x".repeat(5000) }));
    await using api = client(service.url, { maxBodyBytes: 2000 });
    await expect(collect(readPages(api, { ...request, limit: 20 }))).rejects.toMatchObject({ failure: "too_large" });
    expect(service.requests).toHaveLength(3);
    await expect(collect(readPages(api, { ...request, paged: false }))).rejects.toMatchObject({ failure: "too_large" });
    expect(service.requests).toHaveLength(4);
  });
});
