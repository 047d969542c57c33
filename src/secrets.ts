import { ByteSearch } from "./byte_search.ts";
import type { Fields, Message } from "./message.ts";

const mask = "•••";

/** Replaces every secret in a text by `•••`. */
export interface Redactor {
  (text: string): string;
  /** Whether a text stays as it is, in UTF-8: sure where it says so, by a look at the bytes. */
  readonly leaves?: (bytes: Buffer) => boolean;
}

/**
 * Finds each secret in plain, JSON-escaped, HTML-escaped, percent-encoded, base64 and base64url form (within longer
 * encoded text too), where it is a whole token: a word that only holds it stays. One of less than 4 letters or digits
 * may be a word of any sentence, and is replaced where a value stands (`placesOfShort`). The list may grow afterwards.
 */
export function createRedactor(secrets: readonly string[]): Redactor {
  let known = 0;
  let matching = matcher(secrets);
  const current = () => {
    if (secrets.length !== known) {
      known = secrets.length;
      matching = matcher(secrets);
    }
    return matching;
  };
  const redact = (text: string): string => {
    const bare = text.replace(urlPassword, `$1${mask}@`);
    const { plainly, pattern } = current();
    return plainly.test(bare) || escaped.test(bare) ? bare.replace(pattern, mask) : bare;
  };
  return Object.assign(redact, { leaves: (bytes: Buffer) => current().inBytes?.find(bytes) === -1 && isPlain(bytes) });
}

/** The passwords and tokens inside an address, as written and decoded; none when it isn't an address. */
export function secretsInUrl(address: string): string[] {
  const found: string[] = [];
  const raw = /^[a-z][a-z0-9+.-]*:\/\/[^/?#:]*:([^/?#]*)@/i.exec(address)?.[1];
  if (raw !== undefined) found.push(raw);
  const url = URL.parse(address);
  if (url !== null) {
    found.push(url.password);
    for (const [name, value] of url.searchParams) {
      if (/pass|token|secret|key|sig/i.test(name)) found.push(value);
    }
  }
  return [...new Set([...found, ...found.map(decoded)])].filter(secret => secret !== "");
}

/** A value of JSON with every text and number in it redacted, so that the document stays a document. */
export function redactJson(value: unknown, redact: Redactor): unknown {
  if (typeof value === "string") return redact(value);
  if (typeof value === "number" || typeof value === "bigint") {
    return isBareSecret(String(value), redact) ? mask : value;
  }
  if (Array.isArray(value)) return value.map(item => redactJson(item, redact));
  if (typeof value !== "object" || value === null || "toJSON" in value) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      isFieldName(JSON.stringify(key), redact) ? key : redact(key),
      redactJson(item, redact),
    ]),
  );
}

export const redactMessage = ({ code, message, fields }: Message, redact: Redactor): Message => ({
  code,
  message: redact(message),
  fields: redactJson(fields, redact) as Fields,
});

/** Whether a numeral or a word without quotes holds a secret; a short one is more likely a count. */
export const isBareSecret = (text: string, redact: Redactor): boolean => redact(` ${text} `) !== ` ${text} `;

/** Whether a JSON string before a colon is a field's name that stays: a document whose names change can't be read any more. */
export const isFieldName = (string: string, redact: Redactor): boolean => redact(`{${string}:`) === `{${string}:`;

/**
 * Whether what a variable brought into an address says where it leads: user, host, port and database are no secrets, nor is
 * the address as a whole, but for what `secretsInUrl` finds in it. The path of an HTTP address may hold a token.
 */
export function isPlaceIn(address: string, part: string): boolean {
  const url = URL.parse(address);
  if (url === null) return false;
  const { username, password, hostname, host, port, pathname } = url;
  const isHttp = url.protocol.startsWith("http");
  if (part.includes("://")) return isHttp ? pathname === "/" : `${username}${password}` !== "" || !part.includes("@");
  const names = [username, hostname, host, port, isHttp ? "" : pathname.slice(1)];
  return names.some(name => name === part || decoded(name) === part);
}

// An address of somebody else's, such as a proxy's, never came through the configuration.
const urlPassword = /(:\/\/[^\s/?#:@"'•]*:)(?!\$\{)[^\s/?#@"'•]+@/g;

/** The same in bytes as characters, where one of the text is two or three others. */
const urlPasswordInBytes = /:\/\/[^/?#:@"']*:[^/?#@"']+@/;

interface Matcher {
  readonly pattern: RegExp;
  /** Matches where the pattern does, as long as nothing is escaped: one look that most texts are done with takes a fifth of its time. */
  readonly plainly: RegExp;
  /** Finds in bytes what `plainly` matches in their text; undefined: too short to look for. */
  readonly inBytes: ByteSearch | undefined;
}

function matcher(secrets: readonly string[]): Matcher {
  const forms = [...new Set(secrets)].filter(secret => secret !== "").flatMap(formsOf);
  // The longest first: a secret that begins with another one must not leave its tail behind.
  const longestFirst = forms.sort((a, b) => b.length - a.length);
  const plain = [...new Set(forms.map(form => form.plain))];
  return {
    pattern: new RegExp(anyOf(longestFirst.map(form => form.pattern)), "gu"),
    plainly: new RegExp(anyOf(plain.map(literally))),
    inBytes: plain.some(({ length }) => length < 2) ? undefined : new ByteSearch(plain),
  };
}

/** Of none: what matches nowhere. */
const anyOf = (patterns: readonly string[]): string => (patterns.length === 0 ? "(?!)" : patterns.join("|"));

// The ways to write any character; those that only some have stand where `plainPart` cuts, or are entities.
const escaped = /%[0-9a-f]{2}|\\u[0-9a-f]{4}|&(?:#|amp;|lt;|gt;|quot;|apos;)/i;

/** Whether nothing is escaped in bytes of UTF-8, and no address holds a password. */
function isPlain(bytes: Buffer): boolean {
  for (const sign of ["%", "&", "\\u"])
    for (let at = bytes.indexOf(sign); at >= 0; at = bytes.indexOf(sign, at + 1))
      if (escaped.test(bytes.toString("latin1", at, at + 6))) return false;
  return !bytes.includes("@") || !bytes.includes("://") || !urlPasswordInBytes.test(bytes.toString("latin1"));
}

/** The longest part of a secret whose characters stand for themselves wherever none is escaped. */
function plainPart(secret: string): string {
  return secret.split(/["\\/\s\b\f]+/).reduce((longest, part) => (part.length > longest.length ? part : longest), "");
}

interface Form {
  readonly length: number;
  readonly pattern: string;
  /** Every match of the pattern holds it, unless a character of it is escaped. */
  readonly plain: string;
}

function formsOf(secret: string): Form[] {
  const spelled = Array.from(secret, character => escapedCharacter(character)).join("");
  const length = secret.length;
  if (length < 4) {
    const placed = placesOfShort(secret).map(([before, after]) => `${precededBy(before, spelled)}${after}`);
    const isWord = /^(?:\p{L}*|\p{N}*|[^\p{L}\p{N}]*)$/u.test(secret);
    const pattern = isWord ? `(?:${placed.join("|")})${noFieldName(secret)}` : wholeToken(secret, spelled);
    const encoded = [secret, `Bearer ${secret}`].map(text => Buffer.from(text).toString("base64"));
    return [
      { length, pattern, plain: plainPart(secret) },
      ...encoded
        .flatMap(digits => [digits, base64url(digits)])
        // Without its padding a letter's base64 is as short as a word: `dw` for `w`.
        .filter(digits => digits.length >= 4)
        .map(plain => ({ length, pattern: wholeToken(plain, literally(plain)), plain })),
    ];
  }
  const encoded = [0, 1, 2].map(offset => base64Middle(secret, offset));
  const encodedForms = [...new Set(encoded.flatMap(middle => [middle, base64url(middle)]))];
  // One more digit on either side carries the secret's outer bits; one after a backslash is an escape of JSON.
  const digit = "(?:(?<!\\\\)[A-Za-z0-9+/_-])?";
  return [
    { length, pattern: wholeToken(secret, spelled), plain: plainPart(secret) },
    ...encodedForms.map(form => ({ length, pattern: `${digit}${literally(form)}[A-Za-z0-9+/_-]?=*`, plain: form })),
  ];
}

// What stands before a token and is no letter of it, although it ends in one.
const escapedBefore = "%[0-9a-fA-F]{2}|\\\\[nrtbf]|\\\\u[0-9a-fA-F]{4}";
const noWord = "(?![\\p{L}\\p{N}_])";

/** A pattern with something before it, which is looked for last: at the front it would cost a look at each place of a text. */
const precededBy = (before: string, pattern: string): string => `${pattern}(?<=${before}${pattern})`;

/** The pattern of a text where no letter, digit or _ goes on with it. */
function wholeToken(text: string, pattern: string): string {
  const token = /^[\p{L}\p{N}_]/u.test(text)
    ? precededBy(`(?:(?<![\\p{L}\\p{N}_])|${escapedBefore})`, pattern)
    : pattern;
  return `${token}${/[\p{L}\p{N}_]$/u.test(text) ? noWord : ""}${noFieldName(text)}`;
}

/** A field's name in JSON stays where it is a plain word: a document whose names change can't be read any more. */
function noFieldName(text: string): string {
  const end = `\\\\{0,16}"\\s{0,9}:`;
  return /^[a-z][a-z_]*$/.test(text) ? `(?!${end}(?<=[{,]\\s{0,99}\\\\{0,16}"${text}${end}))` : "";
}

/** What stands before and after a short secret: quotes, an address's : and @, an =, a name of secrets, or nothing at all. */
function placesOfShort(secret: string): readonly (readonly [string, string])[] {
  const quote = "(?:[\"'`]|&quot;|&#(?:34|39|[xX]2[27]);|%2[27])";
  const named = "(?:[kK]ey|KEY|[tT]oken|TOKEN|[sS]ecret|SECRET|[pP]assword|PASSWORD)";
  const places: readonly (readonly [string, string])[] = [
    ["^", "$"],
    ["(?::|%3[aA])", "(?=@|%40)"],
    ["(?:=|%3[dD])", noWord],
    ["(?:[bB]earer|[bB]asic)(?: |%20|\\+)", noWord],
    [`${named}["']?: ?`, `(?![\\p{L}\\p{N}_]| \\p{L})`],
  ];
  // Signs stand between quotes wherever there is JSON.
  return /[\p{L}\p{N}]/u.test(secret) ? [...places, [quote, `(?=\\\\{0,16}${quote})`]] : places;
}

/** The base64 digits that a secret alone decides when it begins `offset` bytes into a group of three. */
function base64Middle(secret: string, offset: number): string {
  const bytes = Buffer.from(secret);
  const digits = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
  return digits.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
}

const base64url = (text: string): string => text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

const entities: Readonly<Record<string, string>> = { "&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos" };
const escapes: Readonly<Record<string, string>> = { "\n": "n", "\r": "r", "\t": "t", "\b": "b", "\f": "f" };

// JSON within JSON doubles them. A run without end would be looked at again from each of its places.
const slashes = "\\\\{1,16}";

/** One character as itself or in any of the escapes of URLs, JSON (also JSON within JSON) and HTML. */
function escapedCharacter(character: string): string {
  const percent = [...Buffer.from(character)].map(byte => `%${anyCase(byte.toString(16).padStart(2, "0"))}`);
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  const unicode = units.map(unit => `${slashes}[uU]${anyCase(unit.toString(16).padStart(4, "0"))}`);
  const code = character.codePointAt(0) ?? 0;
  const forms = [percent.join(""), unicode.join(""), `&#(?:${code}|[xX]0*${anyCase(code.toString(16))});`];
  const entity = entities[character];
  if (entity !== undefined) forms.push(`&${entity};`);
  const short = escapes[character];
  if (short !== undefined) forms.push(`${slashes}${short}`);
  if (character === " ") forms.push("\\+");
  forms.push(
    character === '"' || character === "/"
      ? `\\\\{0,16}${character}`
      : character === "\\"
        ? slashes
        : literally(character),
  );
  return `(?:${forms.join("|")})`;
}

const anyCase = (hex: string): string =>
  Array.from(hex, digit => (/[a-f]/.test(digit) ? `[${digit}${digit.toUpperCase()}]` : digit)).join("");

const literally = (text: string): string =>
  Array.from(text, character => (/[\^$\\.*+?()[\]{}|/]/.test(character) ? `\\${character}` : character)).join("");

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
