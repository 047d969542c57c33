/** The content of a field, as far as its name suggests it. */
export type Sense =
  | ("vendor" | "vendor_name" | "order" | "document" | "item" | "finding" | "contract" | "identifier" | "currency")
  | ("moment" | "date" | "month" | "email" | "address" | "secret" | "sentence" | "word");

const SENSES: readonly (readonly [RegExp, Sense])[] = [
  [/secret|token|api_key/, "secret"],
  [/vendor_?id$/i, "vendor"],
  [/(?:^|_)(?:vendor|carrier)(?:_canonical)?(?:_name)?$/, "vendor_name"],
  [/(?:^|_)po_(?:number|ref)$|^linked_po$/, "order"],
  [/(?:^|_)doc(?:ument)?_id$/, "document"],
  [/(?:^|_)item_id$/, "item"],
  [/(?:^|_)finding_id$/, "finding"],
  [/(?:^|_)contract_id$/, "contract"],
  [/(?:^|_)(?:id|key|ref)$/, "identifier"],
  [/(?:^|_)currency(?:_code)?$/, "currency"],
  [/(?:^|[a-z]_)month$/, "month"],
  [/^period_(?:start|end)$|(?:^|_)(?:date|eta)$|_on$|_(?:start|ending|expiry|observed|purchased)$/, "date"],
  [/^week_end|^bucket_end|^discount_deadline$|^last_price_update$/, "date"],
  [/_at$|^ts$|_time$|_until$|_departure$|_deadline$|_period_end$|^as_of$|^first_seen$|^valid_from$/, "moment"],
  [/email$|recipient/, "email"],
  [/url$|website/, "address"],
  [/name$|title|subject|description|note|reason|summary|message|label|text|body|comment|citation|question/, "sentence"],
  [/hint|detail|justification|narrative|address/, "sentence"],
];

const known = new Map<string, Sense>();

export function senseOf(name: string): Sense {
  const before = known.get(name);
  if (before !== undefined) return before;
  const sense = SENSES.find(([pattern]) => pattern.test(name))?.[1] ?? "word";
  known.set(name, sense);
  return sense;
}

export const isTime = (sense: Sense): boolean => sense === "moment" || sense === "date" || sense === "month";

/** What a change of a row leaves as it is: what it is about, and when it came about. */
export const isLasting = (sense: Sense): boolean => !["sentence", "word", "email", "address"].includes(sense);

/** How many days after a row came about something happened to it, as the name of the field suggests. */
export function delayOf(name: string): number {
  if (/start|begin|first|from|effective|requested|submitted|opened|initiated/.test(name)) return 0;
  if (/_end$|expir|until/.test(name)) return 200;
  return /closed|resolved|completed|due|last|deadline|deliver|recovered/.test(name) ? 8 : 4;
}

const FRACTIONS =
  /(?:^|_)(?:pct|rate|score|confidence|share|usd|amount|price|spend|cost|value|savings|charge|lbs|weight|ratio)(?:_|$)/;

/** Whether a number is written with two digits behind the point, as its field's name suggests; otherwise it is whole. */
export const isFractional = (name: string): boolean => FRACTIONS.test(name) && !/count$/.test(name);

/** "rate_card_id" and "/rate-cards" as "RAT": an identifier that names a row of a list looks as the row's own. */
export function prefixOf(name: string): string {
  const letters = name.replace(/_?(?:id|key|ref)$/, "").replace(/[^a-z]/gi, "");
  return letters.slice(0, 3).toUpperCase().padEnd(2, "X");
}

const STATES = ["active", "pending", "closed", "rejected"] as const;
const LEVELS = ["critical", "high", "medium", "low"] as const;
const WORDS = [
  ...["standard", "manual", "review", "price_variance", "duplicate", "shortage", "freight", "partial"],
  ...["matched", "supply", "blanket", "flat", "over_limit", "late", "waiting", "z_unknown_9"],
] as const;

/** The value that a field of a fixed set of words has, by a draw. */
export function wordOf(name: string, nameHash: number, drawn: number): string {
  if (/direction/.test(name)) return drawn % 3 === 0 ? "outbound" : "inbound";
  // The documents name this source for the rows that have details.
  if (name === "source" && drawn % 3 === 0) return "agent";
  if (/status|state/.test(name)) return STATES[drawn % STATES.length] ?? STATES[0];
  if (/severity|priority|urgency|risk|level/.test(name)) return LEVELS[drawn % LEVELS.length] ?? LEVELS[0];
  return WORDS[(nameHash + (drawn % 5) * 3) % WORDS.length] ?? WORDS[0];
}
