import { expect, test } from "vitest";
import { examples } from "./messages_page.ts";

const all = await examples();

test("each code is one message's, and two words of small letters", () => {
  const codes = all.map(({ code }) => code);
  expect(codes.filter((code, at) => codes.indexOf(code) !== at)).toEqual([]);
  expect(codes.filter(code => !/^[a-z]+(_[a-z]+)*\.[a-z0-9]+(_[a-z0-9]+)*$/.test(code))).toEqual([]);
});

test("no example shows what was not filled in, and each field is JSON", () => {
  expect(all.filter(({ message }) => /undefined|NaN|\[object/.test(message))).toEqual([]);
  expect(all.filter(({ fields }) => Object.keys(fields).some(name => !/^[a-z]+(_[a-z0-9]+)*$/.test(name)))).toEqual([]);
});
