import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { buildPath, buildQuery, PathError } from "../../src/source/path.ts";

describe("buildPath", () => {
  test("fills each placeholder with one encoded segment", () => {
    expect(buildPath("/po/{po_number}", { po_number: "PO 1/2" }, ["/po/stats"])).toBe("/po/PO%201%2F2");
    expect(buildPath("/a/{x}/b/{y}", { x: "é?#", y: "100%" }, [])).toBe("/a/%C3%A9%3F%23/b/100%25");
    expect(buildPath("/po", {}, ["/po"])).toBe("/po");
  });

  test.each([".", "..", "", "\ud800"])("refuses %j", value => {
    expect(() => buildPath("/po/{po_number}", { po_number: value }, [])).toThrow(PathError);
    expect(() => buildPath("/po/{po_number}/timeline", { po_number: value }, [])).toThrow(PathError);
  });

  test("refuses a missing value and an id that is another endpoint", () => {
    expect(() => buildPath("/po/{po_number}", {}, [])).toThrow(/\{po_number\}/);
    expect(() => buildPath("/po/{po_number}", { po_number: "stats" }, ["/po/stats"])).toThrow(/another endpoint/);
    expect(new PathError("x")).toBeInstanceOf(RangeError);
  });

  test("whatever the id, a URL parser reads it back as the one segment it was", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 1 }), id => {
        fc.pre(id !== "." && id !== "..");
        const { pathname } = new URL(`http://h/api/v1${buildPath("/po/{id}/line-items", { id }, [])}`);
        const segments = pathname.split("/");
        expect(segments).toHaveLength(6);
        expect(decodeURIComponent(segments[4]!)).toBe(id);
      }),
    );
  });
});

test("buildQuery encodes names and values and keeps their order", () => {
  expect(buildQuery({ limit: 100, include_filed: true, "a b": "x&y=z" })).toBe(
    "?limit=100&include_filed=true&a%20b=x%26y%3Dz",
  );
  expect(buildQuery({})).toBe("");
});
