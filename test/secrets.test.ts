import fc from "fast-check";
import { expect, test } from "vitest";
import { createRedactor, isPlaceIn, redactJson, secretsInUrl } from "../src/secrets.ts";

const mask = "•••";
const printable = fc.string({ minLength: 4, maxLength: 40, unit: "binary-ascii" });
const anyText = fc.string({ minLength: 4, maxLength: 30, unit: "grapheme" });
const secretText = fc.oneof(printable, anyText).filter(text => text.isWellFormed() && !/^[\s•]*$/.test(text));

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const base64url = (text: string): string => Buffer.from(text).toString("base64url");
const json = (text: string): string => JSON.stringify(text).slice(1, -1);
const html = (text: string): string => text.replace(/[&<>"']/g, character => `&#${character.codePointAt(0)};`);
const spellings: Record<string, (text: string) => string> = {
  plain: text => text,
  url: encodeURIComponent,
  urlLowerCase: text => encodeURIComponent(text).replace(/%[0-9A-F]{2}/g, hex => hex.toLowerCase()),
  everyByte: text => [...Buffer.from(text)].map(byte => `%${byte.toString(16).padStart(2, "0")}`).join(""),
  form: text => new URLSearchParams({ q: text }).toString().slice(2),
  json,
  jsonInJson: text => json(json(text)),
  html,
};

test.each(Object.keys(spellings))("no secret survives spelled as %s", name => {
  const spell = spellings[name] ?? json;
  fc.assert(
    fc.property(secretText, fc.string(), fc.string(), (secret, before, after) => {
      // A longer word that begins with it is no secret, and stays.
      fc.pre(![before, after].some(text => text.includes(secret) || text.includes(spell(secret))));
      const redact = createRedactor([secret]);
      const text = `<${before}|${spell(secret)}|${after}>`;
      const shown = redact(text);
      expect(redact.leaves?.(Buffer.from(text))).toBe(false);
      expect(shown).toContain(mask);
      expect(shown.includes(secret)).toBe(false);
      expect(shown.includes(spell(secret))).toBe(false);
    }),
    { numRuns: 300 },
  );
});

test("no secret survives when each of its characters is spelled another way", () => {
  const ways = fc.infiniteStream(fc.constantFrom(...Object.values(spellings)));
  fc.assert(
    fc.property(secretText, fc.string(), ways, (secret, before, chosen) => {
      const spelled = Array.from(secret, character => chosen.next().value(character)).join("");
      const redact = createRedactor(["another one", secret]);
      expect(redact(`${before} ${spelled}`)).toContain(mask);
      expect(redact.leaves?.(Buffer.from(`${before} ${spelled}`))).toBe(false);
    }),
    { numRuns: 1_000 },
  );
});

test.each([
  ["ab/cd", "see ab\\/cd", `see ${mask}`],
  ['/\\ "', 'only signs: /\\\\+\\"', `only signs: ${mask}`],
  ["R&D budget", "R&amp;D+budget", mask],
  ["é", "%C3%A9", mask],
  ["a b", "a+b ab", `${mask} ab`],
])("%j is found in %j", (secret, text, shown) => {
  expect(createRedactor([secret])(text)).toBe(shown);
});

test.each([
  ["base64", base64],
  ["base64url", base64url],
] as const)("no secret survives inside longer text in %s, whatever stands before it", (_, encode) => {
  fc.assert(
    fc.property(secretText, fc.string({ maxLength: 7 }), fc.string({ maxLength: 7 }), (secret, before, after) => {
      const redact = createRedactor([secret]);
      const shown = redact(`x ${encode(before + secret + after)} y`);
      expect(redact.leaves?.(Buffer.from(`x ${encode(before + secret + after)} y`))).toBe(false);
      expect(shown).toContain(mask);
      // Whatever groups are left decode to nothing of the secret, at any offset.
      const rests = shown.split(/[^A-Za-z0-9+/_-]+/).flatMap(rest => [0, 1, 2, 3].map(cut => rest.slice(cut)));
      const decoded = rests.map(rest => Buffer.from(rest, "base64").toString("utf8"));
      expect(decoded.some(text => text.includes(secret))).toBe(false);
    }),
    { numRuns: 300 },
  );
});

test("text without secrets stays as it is", () => {
  fc.assert(
    fc.property(fc.string(), text => {
      expect(createRedactor(["a secret that is not in it"])(text)).toBe(text);
    }),
  );
});

test("short secrets go where a value stands, and leave sentences alone", () => {
  const redact = createRedactor(["abc", "7", ""]);
  expect(redact("key=abc, abcd, 7 rows, 17 rows, YWJj")).toBe(`key=${mask}, abcd, 7 rows, 17 rows, ${mask}`);
});

// Where a secret of any length is a value: what stands before it, and after it.
test.each([
  ["", ""],
  ["postgres://sync:", "@db/w"],
  ["https://h/p?key=", "&x=1"],
  ["https%3A%2F%2Fh%2F%3Fkey%3D", "%26x"],
  ['{"key":"', '"}'],
  ['{\\"key\\":\\"', '\\"}'],
  ["&quot;", "&quot;"],
  ["refused '", "' here"],
  ["Authorization: Bearer ", ""],
  ["Bearer%20", ", x"],
  ["host=h password=", " user=u"],
  ["API key: ", "\n"],
])("between %j and %j every secret goes", (before, after) => {
  for (const secret of ["a", "7", "x9", "abc", "public", "hunter2", "a_b-c/1"])
    expect(createRedactor([secret])(`${before}${secret}${after}`)).toBe(
      before.endsWith("://sync:") ? "postgres://sync:•••@db/w" : `${before}${mask}${after}`,
    );
});

test.each([
  ["public", "republic, publicly, public_works and public2 stay; public.items goes", `public.items`],
  ["hunter2", "hunter22 and my_hunter2 stay; -hunter2. goes", "-hunter2."],
])("%s goes where it is a whole token", (secret, text, whole) => {
  expect(createRedactor([secret])(text)).toBe(text.replace(whole, whole.replace(secret, mask)));
});

test("a token begins after an escape that ends in a letter", () => {
  const redact = createRedactor(["hunter2"]);
  expect(redact("a%20hunter2 b\\nhunter2 c\\u000ahunter2")).toBe(`a%20${mask} b\\n${mask} c\\u000a${mask}`);
});

test("a short key leaves the words of sentences", () => {
  const text = `it's a page, a: b, a/b, (a), "a b", item's 7 of 7, 2026-03-01T07:07:07Z, {"rows":7,"a":"b"}`;
  expect(createRedactor(["a", "7", "07", "s", ":", ","])(text)).toBe(text);
  // What base64 makes of one letter, without its padding, may be a word: dw of w, bm8 of no.
  const words = "dw.items in /data/dw.duckdb, bm8";
  expect(createRedactor(["w", "no"])(words)).toBe(words);
  expect(createRedactor(["w"])("Basic dw==")).toBe(`Basic ${mask}`);
});

test("a field's name that is a plain word stays", () => {
  const text = '{"public":true, "status":"public", "it":{"public" : 1}, "sk-1234":2}';
  const redact = createRedactor(["public", "sk-1234"]);
  expect(redact(text)).toBe(`{"public":true, "status":"${mask}", "it":{"public" : 1}, "${mask}":2}`);
  expect(redactJson({ public: "public", list: [{ public: 1 }] }, redact)).toEqual({
    public: mask,
    list: [{ public: 1 }],
  });
});

test("the parts of an address that say where it leads are no secrets", () => {
  const address = "postgres://sync:db-pw@db.example.com:5432/ware%20house?sslmode=require";
  for (const part of ["sync", "db.example.com", "5432", "db.example.com:5432", "ware house", address])
    expect(isPlaceIn(address, part), part).toBe(true);
  for (const part of ["db-pw", "sync:db-pw", "db"]) expect(isPlaceIn(address, part), part).toBe(false);
  // A slash in the password: the address is not what it was meant to be.
  expect(isPlaceIn("postgres://me:12/34@db/w", "postgres://me:12/34@db/w")).toBe(false);
  expect(isPlaceIn("https://gateway.example/t0ken/", "t0ken")).toBe(false);
  expect(isPlaceIn("https://gateway.example/t0ken/", "https://gateway.example/t0ken/")).toBe(false);
  expect(isPlaceIn("https://service.example", "https://service.example")).toBe(true);
});

test("of two secrets with the same beginning the longer one leaves no tail", () => {
  expect(createRedactor(["hunter", "hunter-two"])("hunter-two hunter")).toBe(`${mask} ${mask}`);
});

test("a secret added later is redacted from then on", () => {
  const secrets = ["first-key"];
  const redact = createRedactor(secrets);
  expect(redact("second-key")).toBe("second-key");
  secrets.push("second-key");
  expect(redact("first-key second-key")).toBe(`${mask} ${mask}`);
});

test("passwords inside addresses are secrets, also of addresses nobody named", () => {
  expect(secretsInUrl("postgres://me:p%40ss@host:5432/db?sslpassword=x&application_name=y")).toEqual([
    "p%40ss",
    "x",
    "p@ss",
  ]);
  expect(secretsInUrl("https://host/path")).toEqual([]);
  expect(secretsInUrl("not an address")).toEqual([]);
  expect(createRedactor([])("proxy http://me:hidden@proxy:3128 failed")).toBe(
    `proxy http://me:${mask}@proxy:3128 failed`,
  );
});

test("a JSON document stays one", () => {
  const redact = createRedactor(["12345", 'pass"word']);
  const document = { rows: 12345, note: 'the pass"word', list: [1, true, null, "12345"], "k-12345": 0 };
  expect(redactJson(document, redact)).toEqual({
    rows: mask,
    note: `the ${mask}`,
    list: [1, true, null, mask],
    [`k-${mask}`]: 0,
  });
});
