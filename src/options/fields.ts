import { z } from "zod";
import { parseDuration } from "../duration.ts";
import { nearest } from "../nearest_name.ts";

// Every message says what was expected; what came is added where it is known whether it may be shown.

/** Marks a field whose value is a name in the warehouse or an option, so that `${…}` there doesn't make it a secret. */
export const open = { open: true } as const;

/** Marks a field whose value is a secret wherever it was written, and one of an address that may hold some. */
const secret = { holds: "secret" } as const;
const address = { holds: "secrets" } as const;

/** Text that the pattern fits; `error` says what was expected. */
const matching = (error: string, pattern: RegExp) => z.string({ error }).regex(pattern, { error });

const passing = (error: string, fits: (value: string) => boolean) => z.string({ error }).refine(fits, { error });

export const text = (what: string) => z.string({ error: `expected ${what}` }).min(1, { error: `expected ${what}` });

/** A name that shows up in the warehouse or on screen by its purpose. */
export const name = (what: string) =>
  text(what)
    .regex(/^[^\0\r\n]+$/, { error: `expected ${what} on one line` })
    .meta(open);

/** A request's value: text, also where YAML reads a number or a boolean. */
export const askedValue = () => {
  const spelled = (raw: unknown): unknown => (typeof raw === "number" || typeof raw === "boolean" ? String(raw) : raw);
  return z.preprocess(spelled, matching("expected a value of one line", /^[^\0\r\n]+$/)).meta(open);
};

export const mediaType = () =>
  matching("expected a media type such as application/pdf", /^[a-z0-9][\w.+-]*\/[a-z0-9][\w.+-]*$/i);

/** `table.column`. */
export const columnName = () => matching("expected a column such as orders.customer_id", /^\w+\.\w+$/).meta(open);

export const currencyCode = () =>
  matching("expected a currency's three capital letters such as EUR", /^[A-Z]{3}$/).meta(open);

/** `table.column`, where `*` stands for any part. */
export const columnPattern = () =>
  matching("expected a column such as orders.contact_email or *.phone", /^[\w*]+\.[\w*]+$/).meta(open);

/** How a column is read: a word, or the values that mean it. */
export const columnTest = () => {
  const error = "expected negative, positive, filled, true or false, or a list of values such as [paid, '*settled*']";
  const words = z.enum(["negative", "positive", "filled"]);
  return z.union([words, z.boolean(), z.array(askedValue())], { error }).meta(open);
};

export const secretText = (what: string) => text(what).meta(secret);

export const hashKey = () =>
  matching("expected a secret of 16 or more characters", /^[^\0\r\n]{16,1000}$/).meta(secret);

const numeral = (raw: unknown): unknown =>
  typeof raw === "string" && /^[+-]?(\d+(\.\d*)?|\.\d+)$/.test(raw.trim()) ? Number(raw) : raw;

export const whole = (min: number, max = 1_000_000_000) => {
  const error = `expected a whole number from ${min} to ${max}`;
  return z.preprocess(numeral, z.int({ error }).min(min, { error }).max(max, { error })).meta(open);
};

export const rate = () => {
  const error = "expected a number above 0 and up to 1000 (0.5 is one every two seconds)";
  return z.preprocess(numeral, z.number({ error }).positive({ error }).max(1000, { error })).meta(open);
};

/** What is wrong with a value that should have keys. */
export const map = { error: "expected keys and values below it" };

export const object = <S extends z.core.$ZodLooseShape>(shape: S) => z.strictObject(shape, map);

export const names = (what: string) => z.array(name(what), { error: "expected a list such as [a, b]" });

export const share = () => {
  const error = "expected a share from 0 to 1 (0.2 is 20 %)";
  return z.preprocess(numeral, z.number({ error }).min(0, { error }).max(1, { error })).meta(open);
};

/** `rest` stands for what the limits of requests leave. */
export const shareOrRest = () => {
  const error = "expected a share from 0 to 1 (0.02 is 2 %), or rest: as many as the limits of requests leave";
  const among = z.union([z.literal("rest"), z.number({ error }).min(0, { error }).max(1, { error })], { error });
  return z.preprocess(numeral, among).meta(open);
};

export const flag = () => {
  const words: Record<string, boolean> = { true: true, false: false };
  const spelled = (raw: unknown): unknown => (typeof raw === "string" ? (words[raw] ?? raw) : raw);
  return z.preprocess(spelled, z.boolean({ error: "expected true or false" })).meta(open);
};

/** A flag, or this word. */
export const flagOr = <const Word extends string>(word: Word) =>
  z.union([flag(), z.literal(word)], { error: `expected true, false or ${word}` }).meta(open);

export const choice = <const T extends readonly [string, ...string[]]>(...values: T) =>
  z
    .enum(values, {
      error: issue => {
        const near = typeof issue.input === "string" ? nearest(issue.input, values) : undefined;
        return `expected ${values.join(" or ")}${near === undefined ? "" : ` (did you mean ${near}?)`}`;
      },
    })
    .meta(open);

/** A duration from `least` up; timers cannot be longer than 24 days, which is the ceiling unless another one is given. */
export const duration = (least: "0s" | "1s" | "1ms" = "1s", most = "24d") => {
  const error = `expected a duration such as 30s, 10m, 4h or 7d (${least} to ${most})`;
  const [floor, ceiling] = [parseDuration(least) ?? 0, parseDuration(most) ?? 0];
  const fits = (value: string): boolean => {
    const ms = parseDuration(value);
    return ms !== undefined && ms >= floor && ms <= ceiling;
  };
  return passing(error, fits)
    .meta({ ...open, is: "duration" })
    .brand<"duration">();
};

/** Checked text, as the file has it: what the program makes of it is in config.ts. */
export type Duration = z.output<ReturnType<typeof duration>>;

const UNITS: Readonly<Record<string, number>> = { MB: 1e6, GB: 1e9 };

/** Bytes of `256MB` or `2GB`; undefined for anything else. */
export function parseSize(text: string): number | undefined {
  const [, number, unit = ""] = /^(\d{1,6})\s*(MB|GB)$/.exec(text.trim()) ?? [];
  return number === undefined ? undefined : Number(number) * UNITS[unit]!;
}

/** A size in memory, not less than that of `least`. */
export const size = (least: string) => {
  const fits = (value: string): boolean => (parseSize(value) ?? 0) >= (parseSize(least) ?? 0);
  return passing(`expected a size such as 256MB or 1GB (at least ${least})`, fits)
    .meta({ ...open, is: "size" })
    .brand<"size">();
};

export type Size = z.output<ReturnType<typeof size>>;

export const timezone = () =>
  z
    .string({ error: "expected a time zone such as Europe/Berlin" })
    .refine(isTimezone, {
      error: issue => {
        const near = nearest(String(issue.input), Intl.supportedValuesOf("timeZone"));
        return `expected a time zone of the IANA list such as UTC or Europe/Berlin${near === undefined ? "" : ` (did you mean ${near}?)`}`;
      },
    })
    .meta(open);

// Intl takes offsets such as +02:00 too; PostgreSQL reads those with the sign turned round.
function isTimezone(zone: string): boolean {
  if (!/^[A-Za-z]/.test(zone)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

export const calendarDate = () => {
  const exists = (day: string): boolean =>
    /^\d{4}-\d\d-\d\d$/.test(day) && new Date(`${day}T00:00:00Z`).toJSON()?.startsWith(day) === true;
  return passing("expected a date such as 2023-01-31", exists).meta(open);
};

/** A schema's name: what both databases take without quotes, at most 63 bytes. */
export const schemaName = () =>
  matching(
    "expected a schema name: letters, digits and _, not beginning with a digit or pg_, at most 63",
    /^(?!pg_)[A-Za-z_][A-Za-z0-9_]{0,62}$/i,
  ).meta(open);

export const cron = () =>
  matching(
    'expected a cron expression of five fields such as "0 2 * * *" (minute hour day month weekday)',
    /^\s*[\d*/,A-Za-z?#-]+(\s+[\d*/,A-Za-z?#-]+){4,5}\s*$/,
  ).meta(open);

/** `host:port`; an IPv6 host stands in brackets. */
export const listenAddress = () => {
  const fits = (value: string): boolean => {
    const port = /^(\[[0-9A-Fa-f:]+\]|[^:\s]+):(\d{1,5})$/.exec(value)?.[2];
    return port !== undefined && Number(port) <= 65_535;
  };
  return passing("expected host:port such as 127.0.0.1:8787", fits)
    .meta({ ...open, is: "listen" })
    .brand<"listen">();
};

export type ListenAddress = z.output<ReturnType<typeof listenAddress>>;

export const baseUrl = () => {
  const error =
    "expected the service's address such as https://procurement.example.com, without user, query or fragment";
  const fits = (value: string): boolean => {
    const url = URL.parse(value);
    if (url === null || !/^https?:$/.test(url.protocol)) return false;
    return url.username === "" && url.password === "" && url.search === "" && url.hash === "";
  };
  return passing(error, fits).meta(address);
};

const urlOf = (protocol: RegExp, error: string) =>
  passing(error, value => protocol.test(URL.parse(value)?.protocol ?? ""));

/** Where a notification is posted to: often a secret itself. */
export const httpUrl = () =>
  urlOf(/^https?:$/, "expected an address such as https://hooks.example.com/services/T0/B0/x").meta(secret);

export const smtpUrl = () =>
  urlOf(
    /^smtps?:$/,
    "expected an address such as smtps://user:password@mail.example.com:465, or smtp:// for STARTTLS",
  ).meta(address);

export const mailAddress = () =>
  matching("expected an address such as buying@example.com", /^[^\s@<>,;]+@[^\s@<>,;]+$/);

export const hookSecret = () =>
  matching("expected 16 or more letters, digits, - and _", /^[A-Za-z0-9_-]{16,200}$/).meta(secret);

export const pageToken = () =>
  matching(
    "expected 16 or more printable characters without spaces (`openssl rand -hex 24` makes a token)",
    /^[\x21-\x7e]{16,}$/,
  ).meta(secret);

export const pagePassword = () => {
  const error = "expected 8 or more characters (`openssl rand -hex 12` makes a password)";
  return z.string({ error }).min(8, { error }).meta(secret);
};

export const postgresUrl = () =>
  urlOf(
    /^postgres(ql)?:$/,
    "expected an address such as postgres://user@host:5432/database, / @ : ? # in a password written as %2F %40 %3A %3F %23",
  ).meta(address);

/** A header value: a space or line break in it is a copying mistake that the service would answer with 401. */
export const apiKey = () =>
  matching("expected an API key of printable characters without spaces or line breaks", /^[\x21-\x7e]+$/).meta(secret);

const path = /^(?!~|:memory:|[A-Za-z][A-Za-z0-9+.-]+:\/\/)[^\0]*[^/\0]$/;

/** A file's path, or something `other`, which stays as it is. */
const pathOr = (error: string, other: RegExp) =>
  text("a path")
    .regex(new RegExp(`${other.source}|${path.source}`), { error })
    .meta({ ...open, is: "path or other", other })
    .brand<"path">();

export const pathOrTable = () => pathOr("expected a file's path, or a table such as table:finance.rates", /^table:/);

/** Where a lake's files are. */
export const dataPlace = () =>
  pathOr("expected a folder's path, or an address such as s3://bucket/folder", /^s3:\/\/[^/\0]+[^\0]*$/);

export const storageEndpoint = () =>
  urlOf(/^https?:$/, "expected the address of an object storage such as https://minio.example.com:9000");

export const filePath = (what: string) => {
  const error = `expected ${what}; ~, :memory: and addresses such as s3:// are not understood`;
  return text(what)
    .regex(path, { error })
    .meta({ ...open, is: "path" })
    .brand<"path">();
};

export type FilePath = z.output<ReturnType<typeof filePath>>;
