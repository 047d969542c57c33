import { DAY_MS, dayOf, dayText } from "../calendar.ts";
import { type Company, vendorFor } from "../company/company.ts";
import { findingIdOf } from "../company/findings.ts";
import { invoiceKey } from "../company/invoices.ts";
import { itemKey } from "../company/items.ts";
import { orderKey } from "../company/orders.ts";
import { elementsOf, type Field, type Shape } from "../documented.ts";
import { contractCount, contractKey } from "../endpoints/contracts.ts";
import { hash } from "../random.ts";
import type { Row } from "../source.ts";
import { Values } from "../values.ts";
import { textHash } from "../vocabulary/text_hash.ts";
import { delayOf, isFractional, isLasting, isTime, prefixOf, type Sense, senseOf, wordOf } from "./names.ts";

/** What an object is about; all of its fields follow from it, each for itself. */
export interface Subject {
  readonly identity: number;
  readonly revision: number;
  /** What its identifiers end with. */
  readonly label: string;
  /** When it came about, UNIX milliseconds. */
  readonly at: number;
  /** Fields that are not drawn. */
  readonly given: Row;
}

const SENTENCES = [
  "Geprüft, erledigt ✔",
  'About "Müller & Søn"\nsee the document',
  "Wareneingang fehlt",
  "到着済み",
  "",
];
const CAME: ReadonlySet<string> = new Set(["created_at", "received_at", "ts", "detected_at"]);

/** The object's fields, those that are given as they are. */
export function objectOf(company: Company, fields: readonly Field[], subject: Subject, isTop = false): Row {
  const row: Row = {};
  for (const field of fields) {
    const given = givenTo(field, subject.given[field.name]);
    row[field.name] = given === undefined ? drawn(company, field, subject, isTop) : given;
  }
  const list = Object.values(row).find(Array.isArray);
  const total = fields.find(({ name }) => name === "total" || name === "total_count");
  if (total !== undefined && list !== undefined) row[total.name] = totalOf(company, total, list.length);
  return row;
}

/** Some companies' answers give no total, some as text. */
export function totalOf({ seed }: Company, { types, nullable }: Field, count: number): number | string | null {
  if (nullable && seed % 5 === 4) return null;
  return types.includes("s") && seed % 2 === 1 ? String(count) : count;
}

/** A given value where the documents allow it for the field; what came as text in a path may be a number there. */
function givenTo({ types, nullable, node }: Field, value: unknown): unknown {
  if (value === null) return nullable ? null : undefined;
  if (types.includes("any")) return value;
  if (typeof value === "string" && !types.includes("s") && /^[\d.]+$/.test(value)) return Number(value);
  const type = { string: "s", number: "n", boolean: "b", object: "o" }[typeof value as string];
  const isFree = node === undefined && !Array.isArray(value);
  return type !== undefined && types.includes(type) && isFree ? value : undefined;
}

function drawn(company: Company, field: Field, subject: Subject, isTop: boolean): unknown {
  const { name, types, nullable, node } = field;
  const sense = senseOf(name);
  const nameHash = textHash(name);
  const v = new Values(hash(subject.identity, nameHash, isLasting(sense) ? 0 : subject.revision));
  if ((nullable || types.includes("any")) && v.chance(1 / 6)) return null;
  if (node?.kind === "array") return arrayOf(company, field, node.items, subject, v, isTop);
  if (node?.kind === "object") {
    const given = isTop ? subject.given : {};
    return objectOf(company, node.fields, { ...subject, given, identity: hash(subject.identity, nameHash) });
  }
  if (types.includes("any"))
    return v.pick<unknown>([freeObject(name, v), v.below(100), wordOf(name, nameHash, v.next())]);
  switch (v.pick(types as [string, ...string[]])) {
    case "b":
      return v.chance(0.5);
    case "o":
      return freeObject(name, v);
    case "s":
      if (!types.includes("n") || types.includes("b"))
        return textOf(company, name, sense, subject, v) ?? (nullable ? null : "");
  }
  return numberOf(field, v);
}

/** As a number, or also as a text where the documents name both. */
function numberOf({ name, types, nullable }: Field, v: Values): unknown {
  const isFraction = isFractional(name) && !types.includes("i");
  const value = isFraction ? v.below(/pct|score|share|rate|confidence/.test(name) ? 10_000 : 5_000_000) : v.below(60);
  const plain = isFraction ? value / 100 : value;
  if (!types.includes("s")) return plain;
  return (isFraction ? v.money(value) : v.count(value)) ?? (nullable ? null : plain);
}

function arrayOf(
  company: Company,
  { name }: Field,
  items: Shape,
  subject: Subject,
  v: Values,
  isTop: boolean,
): unknown[] {
  const length = isTop ? 1 + v.below(4) : v.below(4);
  const fields = elementsOf({ kind: "array", items });
  const elementAt = (i: number): Subject => {
    const identity = hash(subject.identity, textHash(name), i + 1);
    return { ...subject, identity, label: `${subject.label}-${i + 1}`, given: {} };
  };
  if (fields === undefined) {
    const isAny = items.kind !== "scalar" || items.types.length === 0 || items.types.includes("any");
    const types = isAny ? ["s"] : items.types;
    const element = { name, types, nullable: false };
    return Array.from({ length }, (_, i) => drawn(company, element, elementAt(i), false));
  }
  const key = keyField(fields);
  return Array.from({ length }, (_, i) => {
    const element = elementAt(i);
    const given = key === undefined ? {} : { [key.name]: keyOf(company, key, name, i + 1, element.label) };
    return objectOf(company, fields, { ...element, given });
  });
}

const keys = new WeakMap<readonly Field[], Field>();

/** The field that identifies the objects of a list: an identifier, else the first text that is never null. */
export function keyField(fields: readonly Field[]): Field | undefined {
  const known = keys.get(fields);
  if (known !== undefined) return known;
  const never = fields.filter(({ nullable, types }) => !nullable && (types.includes("s") || types.includes("n")));
  const texts = never.filter(({ name, types }) => types[0] === "s" && !isTime(senseOf(name)));
  const found =
    never.find(({ name }) => name === "id") ??
    never.find(({ name }) => senseOf(name) === "identifier" || /_code$/.test(name)) ??
    texts.find(({ name }) => isLasting(senseOf(name))) ??
    texts[0];
  if (found !== undefined) keys.set(fields, found);
  return found;
}

/** The value of a list's key field for its `number`th object. */
export function keyOf(
  company: Company,
  { name, types }: Field,
  kind: string,
  number: number,
  label: string,
): string | number {
  if (types.includes("n") && (!types.includes("s") || number % 3 === 0)) return number;
  const linked = linkOf(company, senseOf(name), number);
  if (linked !== undefined) return linked;
  return senseOf(name) === "identifier"
    ? `${prefixOf(name === "id" ? kind : name)}-${label}`
    : `standard_${label.replaceAll("-", "_")}`;
}

/** The key of the company's `number`th row of a sort; undefined where it has no so many. */
function linkOf(company: Company, sense: Sense, number: number): string | undefined {
  const { orders, invoices, items, findings } = company.sizes;
  if (sense === "vendor") return company.vendors[number - 1]?.id;
  if (sense === "order" && number <= orders) return orderKey(number);
  if (sense === "document" && number <= invoices) return invoiceKey(number);
  if (sense === "item" && number <= items) return itemKey(number);
  if (sense === "contract" && number <= contractCount(company)) return contractKey(number);
  return sense === "finding" && number <= findings ? findingIdOf(company, number) : undefined;
}

/** The number of one of `size` rows that came about around the same time, or of any where it is the newest day. */
function numberNear({ anchorDay, historyDays }: Company, at: number, size: number, v: Values): number {
  const age = anchorDay - at / DAY_MS;
  const near = Math.round(size * (1 - age / historyDays)) + v.below(4);
  const number = age <= 0 ? 1 + v.below(size) : near;
  return Math.min(size, Math.max(1, number));
}

function textOf(company: Company, name: string, sense: Sense, subject: Subject, v: Values): string | null {
  const { orders, invoices, items, findings } = company.sizes;
  const at = CAME.has(name) ? subject.at : subject.at + (delayOf(name) + v.below(4)) * DAY_MS;
  const vendor = vendorFor(company, hash(subject.identity, 1));
  const some = (size: number): string | null =>
    size === 0 ? null : (linkOf(company, sense, numberNear(company, subject.at, size, v)) ?? null);
  switch (sense) {
    case "vendor":
      return vendor.id;
    case "vendor_name":
      return vendor.name;
    case "order":
      return some(orders);
    case "document":
      return some(invoices);
    case "item":
      return some(items);
    case "finding":
      return some(findings);
    case "contract":
      return some(contractCount(company));
    case "identifier":
      return `${prefixOf(name)}-${1 + v.below(40)}`;
    case "currency":
      return v.chance(0.5) ? (company.currency ?? "USD") : vendor.currency;
    case "moment":
      return v.moment(at);
    case "date":
      return v.date(dayOf(at)) ?? dayText(dayOf(at));
    case "month":
      return dayText(dayOf(at)).slice(0, 7);
    case "email":
      return `ana.${v.below(9)}@buyer.example`;
    case "address":
      return `https://${vendor.domain}/${v.below(99)}`;
    case "secret":
      return `whsec_${v.next().toString(16)}`;
    case "sentence":
      return `${v.pick(SENTENCES as [string, ...string[]])} ${subject.label}`.trim();
    case "word":
      return wordOf(name, textHash(name), v.next());
  }
}

/** An object whose content the documents don't show; where a system is connected, a secret stands in it. */
export function freeObject(name: string, v: Values): Row {
  const row: Row = {};
  const word = (): string => wordOf("", v.next(), v.next());
  for (let left = 1 + v.below(3); left > 0; left -= 1) {
    const rest = left;
    if (/^by_/.test(name)) row[word()] = v.below(50);
    else
      row[word()] = v.pick<unknown>([
        word(),
        v.below(500),
        v.chance(0.5),
        null,
        [word(), "Teil Ä"],
        { [word()]: rest / 4 },
      ]);
  }
  if (/config|settings|data$/.test(name))
    Object.assign(row, { api_key: `tk_${v.next()}`, "Bot token": `xoxb-${v.next()}` });
  return row;
}
