import { expect, test } from "vitest";
import { groups, streams } from "../../streams/index.ts";
import { cataloguePage, pageAsItIs } from "./catalogue_page.ts";

test("docs/streams.md is what the catalogue says", () => {
  expect(pageAsItIs()).toBe(cataloguePage(groups));
});

test("every stream stands in one group, and every table belongs to one stream", () => {
  const names = streams.map(({ name }) => name);
  expect(names).toEqual([...new Set(names)]);
  const tables = streams.flatMap(({ tables: { main, children } }) => [main, ...children].map(({ name }) => name));
  expect(tables.filter((name, index) => tables.indexOf(name) < index)).toEqual([]);
  expect(groups.filter(group => group.streams.length === 0).map(({ title }) => title)).toEqual([]);
});
