import fc from "fast-check";
import type { Column, Kind } from "../../src/catalog/columns.ts";

const rarely = <T>(arbitrary: fc.Arbitrary<T>, otherwise: fc.Arbitrary<T>, percent: number) =>
  fc.oneof({ weight: 100 - percent, arbitrary: otherwise }, { weight: percent, arbitrary });
const quoted = (values: fc.Arbitrary<string>) => values.map(value => JSON.stringify(value));
const two = (most: number) => fc.nat(most).map(value => String(value).padStart(2, "0"));

const text = fc.oneof(
  fc.constantFrom(
    "x",
    "Hex bolt M8×40",
    'a "b" \\ / c',
    "line\nline\ttab",
    "",
    "😀 日本",
    "\u2028\u007f",
    "k".repeat(60),
  ),
  fc.string({ unit: "grapheme-ascii" }),
);
const day = fc.tuple(fc.integer({ min: 1000, max: 2999 }), two(12), two(31)).map(parts => parts.join("-"));
const usualDay = fc.tuple(
  fc.constantFrom("1999", "2024", "2000"),
  fc.constantFrom("02", "11"),
  fc.constantFrom("01", "29"),
);
const clock = fc.tuple(two(23), two(59), two(59)).map(parts => parts.join(":"));
const fraction = fc.stringMatching(/^(\.\d{1,6})?$/);
const zone = fc.constantFrom("Z", "+00:00", "+02:00", "-05:30");
const usualMoment = fc
  .tuple(usualDay, clock, fraction, zone)
  .map(([day, time, fraction, zone]) => `${day.join("-")}T${time}${fraction}${zone}`);
const oddMoment = fc
  .tuple(
    day,
    fc.constantFrom("T", " "),
    fc.stringMatching(/^[0-2]\d:[0-6]\d:[0-6]\d$/),
    fc.stringMatching(/^[.,]?\d{0,8}$/),
    zone,
  )
  .map(parts => parts.join(""));
const midnight = usualDay.map(day => `${day.join("-")}T00:00:00.000+02:00`);
const numeral = fc.stringMatching(/^-?(0|[1-9]\d{0,7})(\.\d{1,6}0{0,3})?$/);
const whole = fc.stringMatching(/^-?[1-9]\d{0,9}$/);
const oddNumeral = fc.oneof(
  fc.stringMatching(/^-?(0|[1-9]\d{0,16})(\.\d{1,10}0{0,3})?$/),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.constantFrom(
    "-0",
    "-0.0",
    "0.000",
    "1E5",
    "1e400",
    "123456789012345678",
    "0.1234567890123456",
    "999999999999.999999",
  ),
);
const name = fc.constantFrom("b", "a", "id", "Id", "z9", "basis", "a b");
const object = fc.dictionary(
  name,
  fc.oneof(fc.array(fc.oneof(text, fc.integer())), text, fc.boolean(), fc.dictionary(name, text)),
);
const array = fc.array(text);
const json = fc.oneof(object, array, fc.constantFrom([], {}, 1.5, true));

const oddJson = fc.oneof(
  fc.json(),
  fc
    .dictionary(fc.constantFrom("b", "é", "\uffff", "😀", "api_key", "Token", "passphrase"), fc.json())
    .map(values => JSON.stringify(values)),
);

/** JSON of values as nearly all of their kind come, and of others. */
const forms: Readonly<Record<string, readonly [usual: fc.Arbitrary<string>, odd: fc.Arbitrary<string>]>> = {
  text: [quoted(text), quoted(fc.string({ unit: "binary" }))],
  number: [fc.oneof(numeral, quoted(numeral)), fc.oneof(oddNumeral, quoted(oddNumeral), quoted(text))],
  count: [fc.oneof(whole, quoted(whole)), fc.oneof(oddNumeral, quoted(oddNumeral))],
  flag: [fc.constantFrom("true", "false"), fc.constantFrom('"true"', "1")],
  date: [quoted(usualDay.map(parts => parts.join("-"))), quoted(fc.oneof(day, midnight, oddMoment))],
  moment: [quoted(usualMoment), quoted(fc.oneof(oddMoment, day))],
  json: [json.map(value => JSON.stringify(value)), oddJson],
  object: [object.map(value => JSON.stringify(value)), oddJson],
  array: [array.map(value => JSON.stringify(value)), oddJson],
};
const formOf: Readonly<Record<Kind, string>> = {
  ...{ id: "text", text: "text", money: "number", quantity: "number", percent: "number", score: "number" },
  ...{ count: "count", flag: "flag", date: "date", moment: "moment", json: "json" },
};
const formed = ({ kind, holds }: Pick<Column, "kind" | "holds">): fc.Arbitrary<string> => {
  const [usual, odd] = forms[holds ?? formOf[kind]]!;
  return rarely(odd, usual, 3);
};
/** What is unusual for most kinds. */
const odd = fc.oneof(
  ...Object.values(forms).flat(),
  fc.constantFrom(
    '"\\u0000"',
    '"\\ud83d"',
    '"\\ud83d\\ude00"',
    '"\\u00e9\\u0022"',
    '"\\/\\b\\f\\r"',
    "[ ]",
    '{"a":1,"a":2}',
  ),
);
const broken = fc.constantFrom(
  ...["01", ".5", "1.", "-", "1e", "nul", "tru", '"\t"', '"\\x"', '"\\u12"', "[1,]", "[,]", '{"a"}', "{,}"],
  ...['{"a":1,}', "", "[}", "'a'", '"', "{", "]"],
);
const nested = (levels: number, open: string, close: string) => open.repeat(levels) + close.repeat(levels);
const texts = [
  ...[
    "0",
    "-0",
    "-0.0",
    "007",
    "-01",
    "00.5",
    "1.",
    ".5",
    "-",
    "+1",
    "1e5",
    "1_0",
    " 1",
    "1.50",
    "-1.2500",
    "0.0000001",
  ],
  ...["123456789012", "1234567890123", "123456789012.123456", "1234567890.123456", "0.1234567", "-123456789012"],
  ...["2024-02-29", "2023-02-29", "1900-02-29", "2000-02-29", "2024-04-31", "2024-13-01", "2024-00-10", "0000-01-01"],
  ...["2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000+02:00", "2024-02-29T00:00:00.001Z", "2024-02-29T12:00:00Z"],
  ...[
    "2024-03-01T00:30:00+01:00",
    "2023-12-31T23:30:00-01:00",
    "1900-03-01T00:00:00+00:30",
    "2024-01-01T00:00:00+16:00",
  ],
  ...[
    "2024-01-01T24:00:00Z",
    "2024-01-01T23:60:00Z",
    "2024-01-01T23:59:60Z",
    "2024-01-01T00:00:00.Z",
    "2024-01-01T00:00Z",
  ],
  ...[
    "2024-01-01T00:00:00.1234567Z",
    "2024-01-01T00:00:00+0200",
    "1000-01-01T00:00:00+00:30",
    "2999-12-31T23:59:59-00:30",
  ],
  ...["true", "x".repeat(498), "x".repeat(501), "é".repeat(400), "\u007f"],
];
/** JSON of single values, and what is none. */
export const oddValues = [
  ...texts.flatMap(text => [JSON.stringify(text), text]),
  ...[
    '"\\u0000"',
    '"\\ud83d"',
    '"\\udc00\\ud83d"',
    '"\\ud83d\\ude00"',
    '"\\u00E9\\u0022\\u20aC\\u000a"',
    '"\\u12g4"',
    '"\\u123"',
  ],
  ...[
    '"a\\/b"',
    '["a\\/b","\\"\\\\\\n"]',
    '["\\u0041"]',
    '"\\a"',
    '"\t"',
    '"a',
    "'a'",
    "nul",
    "nulL",
    "truE",
    "falsy",
    "fals",
  ],
  ...[
    "[]",
    "{}",
    "[ ]",
    "{ }",
    "[1,]",
    "[,1]",
    "[1 2]",
    '{"a":1,}',
    '{"a"}',
    '{"a":}',
    '{"a" 1}',
    "{,}",
    "{a:1}",
    "[1}",
    '{"a":1]',
    "[}",
  ],
  ...[
    '{"a":1,"a":2}',
    '{"b":1,"a":{"d":[1,{"z":null,"y":true}],"c":"\\""}}',
    '{"é":1,"z":2}',
    '{"\uffff":1,"😀":2,"a":3}',
    '{"\\u0061":1}',
  ],
  ...["token", "Access_Token", "apiKey", "passwd", "client_secret", "monkey", "", "__proto__", "10", "9"].map(
    key => `{"${key}":1,"a":2}`,
  ),
  ...[
    `{"a":[1.0,-0,1e3,0.10,12345678901234567,0.0000001]}`,
    "[1.0,-0,0.10,-5.25]",
    "[01]",
    "[1.]",
    "[-]",
    "[1e]",
    "[.5]",
  ],
  ...[
    nested(17, "[", "]"),
    nested(600, "[", "]"),
    `${nested(600, '{"a":', "}").replace(":}", ":1}")}`,
    nested(20, "[", "]").slice(1),
  ],
];
const space = fc.oneof(
  { weight: 80, arbitrary: fc.constantFrom("", "", "", " ", "\n", "\t ", "\r\n") },
  { weight: 1, arbitrary: fc.constant("\f") },
);
/** A row's JSON: its fields in some order, most of them as usual. */
function rowOf(columns: readonly Column[]): fc.Arbitrary<string> {
  const fields = columns.filter(({ source }) => source === "row");
  const names = fields.map(({ path }) => path[0]!);
  const usual = fields.map(column =>
    rarely(fc.constant("null"), formed(column), 6).map(value => `${JSON.stringify(column.path[0])}:${value}`),
  );
  const any = fc.constantFrom(...names, ...names, "more", "__proto__", "api_key", "");
  const value = rarely(broken, odd, 5);
  const other = fc
    .tuple(quoted(any), space, space, value, space)
    .map(([name, before, after, value, end]) => `${name}${before}:${after}${value}${end}`);
  const some = { minLength: fields.length - 1, maxLength: fields.length };
  const own = rarely(
    fc.shuffledSubarray(usual, some).chain(all => fc.tuple(...all)),
    fc.tuple(...usual),
    30,
  );
  const others = rarely(fc.array(other, { maxLength: 2 }), fc.constant<string[]>([]), 30);
  return fc
    .tuple(own, others, fc.nat())
    .map(([own, others, at]) => `{${own.toSpliced(at % (own.length + 1), 0, ...others).join(",")}}`);
}

/** A page's JSON: rows, and beside them what its columns take. */
export function pageOf(columns: readonly Column[], place: string): fc.Arbitrary<string> {
  const beside = columns.filter(({ source }) => source === "page");
  const values = fc.tuple(...beside.map(column => rarely(odd, formed(column), 10)));
  const rows = fc.array(
    fc.tuple(space, rowOf(columns), space).map(parts => parts.join("")),
    { maxLength: 4 },
  );
  return fc.tuple(rows, values, space).map(([rows, values, between]) => {
    const array = `${between}[${rows.join(",")}${rows.length === 0 ? between : ""}]`;
    const others = beside.map(({ path }, at) => `,${JSON.stringify(path[0])}:${values[at]}`).join("");
    return `{"data":${place === "" ? array : `{"${place}":${array}${others}}`}${between},"pagination":null}`;
  });
}
