/** Texts that a CSV reader could take for something else. */
export const nasty = [
  "",
  " ",
  '"',
  '""',
  ",",
  "\n",
  "\r",
  "\r\n",
  'a "quoted", text\nover\r\nlines\n\n',
  "NULL",
  "null",
  "\\N",
  "\\",
  "'",
  ";",
  "\t",
  "ünïcödé",
  "emoji 👩‍👩‍👧‍👦",
  "\u2028",
  "\u{10FFFF}",
  "#no comment",
  "1e5",
  "true",
  "x\uFEFF",
  "a".repeat(3_000_000),
];

/** As the encoder writes them. */
export const moments = [
  "2026-01-31 02:03:04.567891+00",
  "1969-12-31 23:59:59.999999+00",
  "0001-01-01 00:00:00+00",
  "9999-12-31 23:59:59+00",
];

/** Up to all the digits that DECIMAL(38,9) has. */
export const amounts = [
  "12345678901234567890123456789.123456789",
  "-99999999999999999999999999999.999999999",
  "0.000000001",
  "0",
  "-0.1",
  "123456789012.123456",
];

/** With nine decimal places, as DECIMAL(38,9) is printed. */
export function padded(amount: string): string {
  const [whole, part = ""] = amount.split(".");
  const zero = /^-?0*$/.test(whole!) && /^0*$/.test(part);
  return `${zero ? whole!.replace("-", "") : whole}.${part.padEnd(9, "0")}`;
}
