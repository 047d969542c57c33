import { hash } from "../random.ts";
import { patchOf, type Row } from "../source.ts";
import { FILTERED, NEVER_NULL, NEVER_NULL_IN, UNDOCUMENTED } from "./documented.ts";
import { dateSaid, isDate, numberSaid, scaleOf, someDate, someMoment } from "./figures.ts";
import { idSaid, idUnderstood, isId } from "./ids.ts";
import { textHash } from "./text_hash.ts";
import { wordSaid, wordUnderstood } from "./words.ts";

/*
 * Translates the simulator's answers into the other vocabulary. The translation of a value depends on the value, the name of its
 * field and a hash of the row it stands in, so that a row reads the same in every answer.
 */

/** Where a value stands. */
interface Place {
  /** Path of the endpoint, as a template. */
  readonly template: string;
  /** The field or the path that holds the object. */
  readonly holder: string;
  /** Of the row: the same in every answer that shows it. */
  readonly identity: number;
  /** Whether it is inside an object whose content is not documented. */
  readonly free: boolean;
  readonly teller: Teller;
}

/** Whose answers they are: a company, by its seed and its newest day. */
export interface Teller {
  readonly seed: number;
  readonly anchorDay: number;
}

const CURRENCY = /(?:^|_)currency(?:_code)?$/;
const CURRENCIES = ["CHF", "BRL", "GBP", "SEK", "JPY"];
const UNITS: Readonly<Record<string, string>> = { EA: "Stk", PCS: "pç", BOX: "Kiste", KG: "kg", M: "Meter" };
const REMARK = /(?:^|_)(?:reason|note|notes|method)$/;
const REMARKS = ["k. A.", "sem observação", "siehe Akte", ""];
/** What the service's clients need to go on, links that nearly every row has, and what shows that a row was updated. */
const ALWAYS: ReadonlySet<string> = new Set([
  ...["next_cursor", "created_at", "ts", "received_at", "status", "processing_status", "recurrence_count"],
  ...["linked_invoice_doc_id", "linked_invoice_number", "credit_memo_match_method", "description"],
  ...["comm_count", "current_status", "line_total", "notes", "reason", "title"],
]);

/** Some rows name their vendor alone, some have its identifier alone, some both, some neither; what other tables join to stays mostly. */
const NULL_PERCENT: Readonly<Record<string, number>> = {
  ...{ vendor_id: 25, vendor_name: 20, doc_type: 25, document_date: 20 },
  ...{ matched_po_number: 15, total_amount: 8, currency_code: 15, line_no: 10 },
};

/** The data of an answer; with `paged` its lists stand in the order in which their pages go on. */
export function dataSaid(data: unknown, template: string, paged: boolean, teller: Teller): unknown {
  const place = placeOf(template, template, teller);
  if (Array.isArray(data)) return listSaid(data, place, !paged);
  return isObject(data) ? objectSaid(data, { ...place, identity: identityOf(data, place) }, paged) : data;
}

/** A row of the list that stands in `field` of an endpoint's data, as the answer tells it. */
export function rowSaid(row: Row, template: string, field: string, teller: Teller): Row {
  const place = placeOf(template, field, teller);
  return objectSaid(row, { ...place, identity: elementOf(row, 0, place) }, false);
}

const placeOf = (template: string, holder: string, teller: Teller): Place => ({
  ...{ template, holder, teller, free: false },
  identity: textHash(template, teller.seed),
});

/** What a client asks with, in the simulator's words. */
export const understood = (text: string): string =>
  text
    .split(",")
    .map(part => wordUnderstood(idUnderstood(part)))
    .join(",");

/** A key as the service tells it. */
export const keySaid = (key: string): string => (isId(key) ? idSaid(key) : wordSaid(key));

/** What there is to know of a field's name. */
const namedOf = memo((name: string) => ({
  hash: textHash(name),
  scale: scaleOf(name),
  isCurrency: CURRENCY.test(name),
  isFree: UNDOCUMENTED.has(name),
  isNever: NEVER_NULL.has(name) || ALWAYS.has(name) || UNDOCUMENTED.has(name),
  nullPercent: NULL_PERCENT[name] ?? [0, 0, 0, 0, 35, 35, 35, 35, 65, 65][textHash(name, 7) % 10] ?? 0,
}));

function memo<T>(of: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return text => {
    const value = known.get(text) ?? of(text);
    if (known.size < 10_000) known.set(text, value);
    return value;
  };
}

function objectSaid(object: Row, place: Place, paged: boolean): Row {
  const said: Row = {};
  for (const [name, value] of Object.entries(object)) {
    if (place.free && value === null && textHash(name) % 2 === 0) continue;
    said[place.free ? keySaid(name) : name] = memberSaid(name, value, place, paged);
  }
  return Object.assign(said, patchOf(object));
}

function memberSaid(name: string, value: unknown, place: Place, paged: boolean): unknown {
  if (Array.isArray(value)) {
    const inner = { ...place, holder: name, free: place.free || namedOf(name).isFree };
    return listSaid(value, inner, !paged && !inner.free);
  }
  if (isObject(value)) {
    const free = place.free || namedOf(name).isFree;
    const identity = free ? place.identity : identityOf(value, place, choiceOf(name, place));
    return objectSaid(value, { ...place, holder: name, identity, free }, false);
  }
  if (place.free || !mayBeNull(name, place)) return scalarSaid(name, value, place);
  const choice = choiceOf(name, place);
  if (value === null) return filled(name, choice, place);
  if (value !== undefined && choice % 100 < namedOf(name).nullPercent) {
    const isText = typeof value === "string" && !isId(value) && Number.isNaN(Number(value)) && !isDate(value);
    return isText && choice % 3 === 0 ? "" : null;
  }
  return scalarSaid(name, value, place);
}

/** Elements in another order: no list within an answer is documented to have one. */
function listSaid(list: readonly unknown[], place: Place, mixed: boolean): unknown[] {
  const said = list.map((element, i) => {
    if (Array.isArray(element)) return listSaid(element, place, false);
    if (!isObject(element)) return scalarSaid(place.holder, element, place);
    const identity = place.free ? place.identity : elementOf(element, i, place);
    return objectSaid(element, { ...place, identity }, false);
  });
  if (!mixed || !list.some(isObject)) return said;
  const order = said.map((element, i) => ({ element, at: textHash(`${place.holder} ${i}`) }));
  return order.sort((a, b) => a.at - b.at).map(({ element }) => element);
}

function scalarSaid(name: string, value: unknown, place: Place): unknown {
  if (typeof value !== "string" && typeof value !== "number") return value;
  const { scale, isCurrency } = namedOf(name);
  const choice = choiceOf(name, place);
  if (typeof value === "number") return numberSaid(value, scale, choice);
  if (isCurrency && /^[A-Z]{3}$/.test(value)) return CURRENCIES[place.identity % CURRENCIES.length];
  if (isDate(value)) return name === "as_of" ? value : dateSaid(value, name, choice);
  if (isId(value)) return idSaid(value);
  if (value.startsWith("po-")) return idSaid(value.toUpperCase()).toLowerCase();
  const number = numberSaid(value, scale, choice);
  return number === value ? (UNITS[value] ?? wordSaid(value)) : number;
}

function mayBeNull(name: string, { template, holder }: Place): boolean {
  if (namedOf(name).isNever) return false;
  return NEVER_NULL_IN.get(holder)?.has(name) !== true && FILTERED.get(template)?.has(name) !== true;
}

/** What a field that was null holds instead, in some of the rows. */
function filled(name: string, choice: number, { teller: { anchorDay: day } }: Place): string | null {
  if (choice % 10 < 4) return null;
  if (/_date$/.test(name)) return dateSaid(someDate(day, choice), name, choice);
  if (/_at$/.test(name)) return dateSaid(someMoment(day, choice), name, choice);
  return REMARK.test(name) ? (REMARKS[choice % REMARKS.length] ?? null) : null;
}

/** A row is known by the first identifier among its fields, wherever it stands; one without belongs to its place. */
function identityOf(row: Row, { identity, teller }: Place, otherwise = identity): number {
  for (const value of Object.values(row))
    if (typeof value === "string" && isId(value)) return textHash(value, teller.seed);
  return otherwise;
}

/** Of an element of a list. A list's row has to be the same on whatever page it stands, so its number does not count. */
function elementOf(row: Row, index: number, place: Place): number {
  const { template, holder, identity, teller } = place;
  const isTop = identity === textHash(template, teller.seed);
  const number = isTop ? Object.values(row).slice(0, 2).join(" ") : `${holder} ${index}`;
  return identityOf(row, place, textHash(number, identity));
}

const choiceOf = (name: string, { identity }: Place): number => hash(identity, namedOf(name).hash);

function isObject(value: unknown): value is Row {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
