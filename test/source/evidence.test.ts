import { expect, test } from "vitest";
import { lackIn } from "../../src/source/evidence.ts";

const rows = [{ total: 99, pages: 9, page: 1, truncated: true }];

test.each([
  ["a total above the rows", { rows, total: 2 }, { field: "total", said: 2 }],
  ["one that is a text", { rows, total: "2" }, { field: "total", said: 2 }],
  ["one that stands deeper", { rows, stats: { of: { total: 7 } } }, { field: "stats.of.total", said: 7 }],
  ["further pages", { rows, paging: { page: 1, pages: 2 } }, { field: "paging.pages", said: 2 }],
  ["an answer that is cut off", { rows, truncated: true }, { field: "truncated", said: true }],
])("%s says that there are more rows", (_, data, more) => {
  expect(lackIn({ data, around: {} }, 1)).toEqual(more);
});

test.each([
  ["a total of the rows, or below", { rows, total: 1, stats: { total: 0 } }],
  ["what is no count", { rows, total: "0x28", stats: { total: -1 }, of: { total: 2.5 }, at: { total: null } }],
  ["the last page", { rows, page: 2, pages: 2 }],
  ["a count of pages without a page", { rows, pages: 3 }],
  ["an answer that is whole", { rows, truncated: false }],
  ["what stands in the rows themselves", { rows }],
  ["a bare list", rows],
])("%s says nothing of the kind", (_, data) => {
  expect(lackIn({ data, around: {} }, 1)).toBeUndefined();
});
