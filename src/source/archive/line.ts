import { z } from "zod";
import { parsedJson } from "../../files.ts";
import type { Redactor } from "../../secrets.ts";
import type { RawAnswer } from "../api.ts";
import type { About } from "./about.ts";
import { cleaned, isClean } from "./cleaning.ts";

const texts = z.record(z.string(), z.string());

const head = z.object({
  v: z.literal(1),
  /** When the answer was here, by our clock. */
  at: z.string(),
  run: z.string(),
  /** Of the policy under which personal data was taken out; none: the body is as it came. */
  privacy: z.string().default(""),
  company: z.string(),
  stream: z.string(),
  scan: z.string(),
  full: z.boolean().default(false),
  part: z.number().default(0),
  parts: z.number().default(1),
  window: z.boolean().default(false),
  confirms: z.boolean().default(false),
  accepted: z.boolean().default(false),
  request: z.object({ path: z.string(), query: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])) }),
  context: texts.optional(),
  parent: z.object({ key: z.string(), hash: z.string(), params: texts }).optional(),
  status: z.number(),
  /** When it was given, by the service's clock where that is believed. */
  date: z.string(),
  /** The cursor of the page after this one; null: this is the last. */
  next: z.string().nullable().default(null),
});

/** What stands before an archived answer's body. */
export type Head = z.infer<typeof head>;

export interface Line {
  readonly head: Head;
  readonly body: Buffer;
}

/** A line as it is written, with its line break, in pieces. */
export type WrittenLine = readonly Buffer[];

export interface Origin {
  readonly run: string;
  readonly company: string;
  readonly at: string;
  /** Of the policy that the body went through; empty: none. */
  readonly privacy: string;
}

const bodyBegins = ',"body":';
const lineEnds = Buffer.from("}\n");

/** The line of an answer; undefined where it cannot be kept without a secret. */
export function lineOf(
  answer: RawAnswer,
  about: Partial<About>,
  { run, company, at, privacy }: Origin,
  redact: Redactor,
): WrittenLine | undefined {
  const { path, query, status, date, next, body } = answer;
  const { control: _, ...purpose } = about;
  const facts = JSON.stringify({
    ...{ v: 1, at, run, privacy: privacy === "" ? undefined : privacy, company, full: false, ...purpose },
    ...{ request: { path, query }, status, date: date.toISOString(), next },
  });
  const cleanFacts = cleaned(facts, redact);
  const cleanBody = isClean(body, redact) ? body : cleanedBody(body, redact);
  if (cleanFacts === undefined || cleanBody === undefined) return undefined;
  return written(cleanFacts, cleanBody);
}

const written = (facts: string, body: Buffer): WrittenLine => [
  Buffer.from(`${facts.slice(0, -1)}${bodyBegins}`),
  body,
  lineEnds,
];

function cleanedBody(body: Buffer, redact: Redactor): Buffer | undefined {
  const text = body.toString("utf8");
  const clean = cleaned(text.replace(/^\uFEFF/, ""), redact);
  // Bytes that are no character's stay as they are.
  return clean === text ? body : clean === undefined ? undefined : Buffer.from(clean);
}

/** A line that was read, as it would be written. */
export const writeLine = ({ head: facts, body }: Line): WrittenLine => written(JSON.stringify(facts), body);

/** What stands before a body, as JSON; undefined for that of another version, or what is none. */
function readHead(text: string): Head | undefined {
  const parsed = head.safeParse(parsedJson(text));
  return parsed.success ? parsed.data : undefined;
}

/** A line without its line break, taken apart; undefined for one of another version or that is none. */
export function readLine(line: Buffer): Line | undefined {
  // The facts may hold a parameter of that name: what stands before it is not whole then.
  for (let at = line.indexOf(bodyBegins); at > 0; at = line.indexOf(bodyBegins, at + 1)) {
    const facts = readHead(`${line.toString("utf8", 0, at)}}`);
    if (facts !== undefined) return { head: facts, body: line.subarray(at + bodyBegins.length, -1) };
  }
  return undefined;
}
