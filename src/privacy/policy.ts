import type { Column, Kind, Table, TableSet, Treatment } from "../catalog/columns.ts";
import { LINE_ID_COLUMN, snakeCase } from "../catalog/columns.ts";
import { lookupOf } from "../catalog/lookup.ts";
import { pathParameters, type Stream } from "../catalog/stream.ts";
import type { Config } from "../config/config.ts";
import { digestOf } from "../digest.ts";
import { ConfigError, noting, refuse } from "../errors.ts";
import type { Message } from "../message.ts";
import { nearest, wildcard } from "../nearest_name.ts";
import { privacyMessages } from "./messages.ts";
import { keyIdOf } from "./treatment.ts";

export interface Policy {
  /** By `table.column`; `table._extra` may be excluded. */
  readonly treatments: ReadonlyMap<string, Treatment>;
  /** What becomes of fields that the documents don't name, when their names say that they are personal. */
  readonly undocumented: Treatment | undefined;
  /** Of the key that hashes are made with; undefined where nothing is hashed. */
  readonly keyId: string | undefined;
  /** Changes with whatever changes stored values; empty where every value is stored as it comes. */
  readonly id: string;
}

export const EXTRA_COLUMN = "_extra";

const HASHABLE: ReadonlySet<Kind> = new Set(["id", "text", "json"]);
const MASKABLE: ReadonlySet<Kind> = new Set(["id", "text"]);

interface Candidate {
  readonly name: string;
  readonly column: Column | undefined;
  /** Why it has to stay as it is. */
  readonly needed: string | undefined;
}

/** The policy that the configuration asks for. @throws ConfigError that names the key, the column and what is possible */
export function policyOf(catalogue: readonly Stream[], config: Config["privacy"]): Policy {
  const { pii, exclude, hash, mask } = config;
  if (pii === "keep" && exclude.length + hash.length + mask.length === 0) return nothing;
  const candidates = candidatesIn(catalogue);
  const treatments = new Map<string, Treatment>();
  if (pii !== "keep")
    for (const { name, column, needed } of candidates)
      if (column?.personal === true && needed === undefined)
        treatments.set(name, pii === "hash" && HASHABLE.has(column.kind) ? "hash" : "exclude");
  const named = new Map<string, Treatment>();
  const faults: Message[] = [];
  const lists = { exclude, hash, mask } satisfies Record<Treatment, readonly string[]>;
  for (const isPattern of [true, false]) {
    const round = new Map<string, Treatment>();
    for (const [treatment, entries] of Object.entries(lists) as [Treatment, readonly string[]][])
      for (const entry of entries.filter(each => each.includes("*") === isPattern))
        for (const name of noting(faults, () => meant(candidates, treatment, entry)) ?? []) {
          const other = round.get(name);
          if (other !== undefined && other !== treatment)
            faults.push(privacyMessages.named_twice({ column: name, treatments: [other, treatment] }));
          round.set(name, treatment);
        }
    for (const [name, treatment] of round) named.set(name, treatment);
  }
  refuse(faults);
  for (const [name, treatment] of named) treatments.set(name, treatment);
  const undocumented = pii === "keep" ? undefined : pii;
  const hashes = undocumented === "hash" || [...treatments.values()].includes("hash");
  const keyId = hashes && config.key !== undefined ? keyIdOf(config.key) : undefined;
  return policyWith(treatments, undocumented, keyId);
}

export function policyWith(
  treatments: ReadonlyMap<string, Treatment>,
  undocumented: Treatment | undefined,
  keyId: string | undefined,
): Policy {
  if (treatments.size === 0 && undocumented === undefined) return nothing;
  const facts = [[...treatments].sort(([a], [b]) => (a < b ? -1 : 1)), undocumented ?? null, keyId ?? null];
  return { treatments, undocumented, keyId, id: digestOf(facts) };
}

const nothing: Policy = { treatments: new Map(), undocumented: undefined, keyId: undefined, id: "" };

/** The stream as its tables are under a policy: without the columns that are left out; the others say what becomes of their values. */
export function withPolicy(stream: Stream, { id, treatments }: Policy): Stream {
  if (id === "") return stream;
  const { main, children } = stream.tables;
  const isTouched = ({ name, columns }: Table) => columns.some(column => treatments.has(`${name}.${column.name}`));
  if (![main, ...children].some(isTouched)) return stream;
  const treated = (table: Table): Table => ({
    ...table,
    excluded: table.columns.filter(({ name }) => treatments.get(`${table.name}.${name}`) === "exclude"),
    columns: table.columns.flatMap(column => {
      const treatment = treatments.get(`${table.name}.${column.name}`);
      if (treatment === undefined) return [column];
      // A hash is a text, whatever the documents say.
      return treatment === "exclude" ? [] : [{ ...column, treatment, holds: undefined }];
    }),
  });
  const tables: TableSet = { main: treated(main), children: children.map(treated) };
  return { ...stream, tables };
}

function candidatesIn(catalogue: readonly Stream[]): readonly Candidate[] {
  const needed = protectedColumns(catalogue);
  return catalogue.flatMap(({ tables: { main, children } }) =>
    [main, ...children].flatMap(table => [
      ...table.columns.map(column => {
        const name = `${table.name}.${column.name}`;
        return { name, column, needed: needed.get(name) };
      }),
      { name: `${table.name}.${EXTRA_COLUMN}`, column: undefined, needed: undefined },
    ]),
  );
}

function meant(candidates: readonly Candidate[], treatment: Treatment, entry: string): readonly string[] {
  const list = `${treatment}_columns`;
  const pattern = wildcard(entry);
  const isPattern = entry.includes("*");
  const found = candidates.filter(({ name, column }) => pattern.test(name) && (column !== undefined || !isPattern));
  if (found.length === 0) {
    const close = nearest(
      entry,
      candidates.map(({ name }) => name),
    );
    throw new ConfigError(
      privacyMessages.unknown_column({ list, column: entry, example: close ?? "orders.contact_email" }),
    );
  }
  const free = found.filter(({ needed }) => needed === undefined);
  if (free.length === 0)
    throw new ConfigError(privacyMessages.needed_column({ list, column: found[0]!.name, reason: found[0]!.needed! }));
  for (const { name, column } of free) {
    const possible = treatment === "hash" ? HASHABLE : MASKABLE;
    if (treatment === "exclude" || (column !== undefined && possible.has(column.kind) && column.path.length > 0))
      continue;
    throw new ConfigError(privacyMessages.unfit_column({ treatment, column: name }));
  }
  return free.map(({ name }) => name);
}

/** Columns that the engine works with, by `table.column`, and what each is needed for: their values have to stay what the service says. */
function protectedColumns(catalogue: readonly Stream[]): ReadonlyMap<string, string> {
  const needed = new Map<string, string>();
  const keep = (name: string, what: string) => {
    if (!needed.has(name)) needed.set(name, what);
  };
  for (const stream of catalogue) {
    const { main, children } = stream.tables;
    for (const table of [main, ...children])
      for (const column of [...table.key, LINE_ID_COLUMN]) keep(`${table.name}.${column}`, "it is part of the key");
    const { mode } = stream;
    if (mode.kind === "feed") keep(`${main.name}.${mode.highWaterColumn}`, "it says how far the feed has been read");
    if (mode.kind === "scan" || mode.kind === "feed")
      for (const parameter of pathParameters(mode.confirm ?? ""))
        keep(`${main.name}.${snakeCase(parameter)}`, "the service is asked with it whether a row is gone");
    for (const columns of Object.values(lookupOf(stream)?.from ?? {}))
      for (const column of columns) keep(column, `${stream.name} is asked for with it`);
    if (mode.kind !== "detail") continue;
    const asked = `${stream.name} is asked for with it`;
    for (const parameter of pathParameters(stream.path))
      keep(`${mode.of}.${mode.param?.[parameter] ?? snakeCase(parameter)}`, asked);
    for (const column of [mode.by, mode.only?.column, mode.open, mode.newest])
      if (column !== undefined) keep(`${mode.of}.${column}`, asked);
    for (const column of mode.also ?? []) keep(column, asked);
  }
  return needed;
}

const PERSONAL =
  /(^|_)(e?mails?|email_address(es)?|mail_address(es)?|phones?|phone_(no|number)s?|mobiles?|mobile_(no|number)|telephone|fax|first_name|last_name|full_name|given_name|family_name|surname|contact_name|contact_person|person_name|user_name|username|employee_name|driver_name|signature|body|body_(text|html|preview)|html_body|text_body|snippet|senders?|recipients?|attendees|participants)$/;

/** Whether a field's name alone says that it holds personal data: for fields that the documents don't name. */
export function isPersonalName(field: string): boolean {
  return PERSONAL.test(snakeCase(field).replace(/[^a-z0-9]+/g, "_"));
}
