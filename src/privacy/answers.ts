import type { Table, Treatment } from "../catalog/columns.ts";
import { ANYWHERE, pathParameters, type Stream, scalarOf } from "../catalog/stream.ts";
import { TributaryError } from "../errors.ts";
import { Numeral } from "../numeral.ts";
import { onlyArray } from "../rows/only_array.ts";
import type { Envelope } from "../source/envelope.ts";
import { privacyMessages } from "./messages.ts";
import { EXTRA_COLUMN, isPersonalName, type Policy, policyWith } from "./policy.ts";
import type { Treat } from "./treatment.ts";

/** Takes what a policy keeps back out of an answer's data, in place. Answers whether anything was changed. */
export type TreatAnswer = (path: string, data: unknown) => boolean;

/** Fields below a value; arrays stand for their elements. */
interface Node {
  readonly fields: Map<string, Node>;
  /** A documented value ends here. */
  isColumn: boolean;
  treatment: Treatment | undefined;
  /** Fields that the documents don't name are left out. */
  isClosed: boolean;
}

const newNode = (): Node => ({ fields: new Map(), isColumn: false, treatment: undefined, isClosed: false });

/**
 * What is done to the answers of the catalogue's endpoints. Streams that share an endpoint share what is kept back: the
 * answer may be archived for either. `catalogue` is the one that the policy was made from, with every column.
 */
export function answerTreatment(catalogue: readonly Stream[], policy: Policy, treat: Treat): TreatAnswer | undefined {
  if (policy.id === "") return undefined;
  const trees = new Map<string, { readonly pattern: RegExp; readonly root: Node }>();
  for (const stream of catalogue) {
    const tree = trees.get(stream.path) ?? { pattern: patternOf(stream.path), root: newNode() };
    trees.set(stream.path, tree);
    addStream(tree.root, stream, policy);
  }
  const all = [...trees.values()];
  const fixed = new Map([...trees].filter(([path]) => pathParameters(path).length === 0));
  return (path, data) => {
    const root = fixed.get(path)?.root ?? all.find(({ pattern }) => pattern.test(path))?.root ?? newNode();
    return walk(data, found(root, data), policy.undocumented, treat);
  };
}

/** What is known of rows whose place the answer itself tells, put there. */
function found(root: Node, data: unknown): Node {
  const rows = root.fields.get(ANYWHERE);
  const path = rows === undefined ? undefined : onlyArray(data);
  if (rows === undefined || path === undefined) return root;
  return path.reduceRight<Node>((inner, field) => ({ ...newNode(), fields: new Map([[field, inner]]) }), rows);
}

/** The same for a single row of a stream, as rejects keep it. */
export function rowTreatment(stream: Stream, policy: Policy, treat: Treat): (row: unknown) => boolean {
  const root = newNode();
  for (const table of [stream.tables.main, ...stream.tables.children]) addTable(at(root, table.path), table, policy);
  return row => walk(row, root, policy.undocumented, treat);
}

/** The same for what rejects keep beside a row: `context`, and of the page's data the columns under `page`. */
export function besideTreatment({ tables }: Stream, policy: Policy, treat: Treat): (beside: unknown) => boolean {
  const root = newNode();
  const { name, columns } = tables.main;
  for (const { name: column, path, source } of columns)
    if (source !== "row") markColumn(at(root, [source, ...path]), policy.treatments.get(`${name}.${column}`));
  return beside => walk(beside, root, policy.undocumented, treat);
}

/** What a table's rows hold that no column stands for. */
export function extraTreatment(table: Table, policy: Policy, treat: Treat): (extra: unknown) => boolean {
  const root = newNode();
  addTable(root, table, policy);
  return extra => walk(extra, root, policy.undocumented, treat);
}

/** JSON whose fields the documents don't name. */
export function looseTreatment({ undocumented }: Policy, treat: Treat): (value: unknown) => boolean {
  return value => walk(value, newNode(), undocumented, treat);
}

/** The policy, and what it does to columns that were added for fields which the documents don't name. `catalogue` has them. */
export function withAddedColumns(policy: Policy, catalogue: readonly Stream[]): Policy {
  const treatments = new Map(policy.treatments);
  for (const { tables } of catalogue)
    for (const table of [tables.main, ...tables.children]) {
      const root = newNode();
      addTable(root, { ...table, columns: table.columns.filter(({ added }) => added !== true) }, policy);
      for (const { name, path, added } of table.columns) {
        const treatment = added === true ? unnamedWithin(root, path, policy.undocumented) : undefined;
        if (treatment !== undefined) treatments.set(`${table.name}.${name}`, treatment);
      }
    }
  return policyWith(treatments, policy.undocumented, policy.keyId);
}

function patternOf(path: string): RegExp {
  const parts = path.split(/\{[^{}]+\}/).map(part => RegExp.escape(part));
  return new RegExp(`^${parts.join("[^/]+")}$`);
}

function addStream(root: Node, { mode, tables }: Stream, policy: Policy): void {
  for (const row of rowsAt(root, mode)) {
    for (const table of [tables.main, ...tables.children]) addTable(at(row, table.path), table, policy);
    const scalar = scalarOf({ mode });
    const bare = scalar === undefined ? undefined : row.fields.get(scalar)?.treatment;
    if (bare !== undefined) row.treatment = bare;
  }
  for (const column of tables.main.columns)
    if (column.source === "page")
      markColumn(at(root, column.path), policy.treatments.get(`${tables.main.name}.${column.name}`));
}

function rowsAt(root: Node, mode: Stream["mode"]): readonly Node[] {
  if (mode.kind === "snapshot" || mode.rows === undefined) return [root];
  if (mode.kind === "scan" && mode.lookup?.single === true) return [root];
  const paths = typeof mode.rows === "string" ? [mode.rows] : Object.values(mode.rows.of);
  return paths.map(path => at(root, path === "" ? [] : path.split(".")));
}

function addTable(row: Node, { name, columns }: Table, { treatments }: Policy): void {
  for (const { name: column, path, source } of columns) {
    if (source !== "row") continue;
    const treatment = treatments.get(`${name}.${column}`);
    if (path.length > 0) markColumn(at(row, path), treatment);
    else if (treatment === "exclude") row.isClosed = true;
  }
  if (treatments.get(`${name}.${EXTRA_COLUMN}`) === "exclude") close(row);
}

/** Fields of documented nested objects that the documents don't name would go to `_extra` too. */
function close(node: Node): void {
  node.isClosed = true;
  for (const inner of node.fields.values()) if (!inner.isColumn && inner.fields.size > 0) inner.isClosed = true;
}

function markColumn(node: Node, treatment: Treatment | undefined): void {
  node.isColumn = true;
  node.treatment ??= treatment;
}

function at(node: Node, path: readonly string[]): Node {
  let found = node;
  for (const field of path) {
    const next = found.fields.get(field) ?? newNode();
    found.fields.set(field, next);
    found = next;
  }
  return found;
}

type Row = Record<string, unknown>;

function walk(value: unknown, node: Node, undocumented: Treatment | undefined, treat: Treat): boolean {
  if (typeof value !== "object" || value === null || value instanceof Numeral) return false;
  let changed = false;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const element: unknown = value[i];
      const isBare = typeof element !== "object" || element instanceof Numeral;
      if (!isBare) changed = walk(element, node, undocumented, treat) || changed;
      else if (node.treatment !== undefined && element !== null) {
        // Of a list of bare values each is a row, and stays one.
        value[i] = treat(element, node.treatment) ?? {};
        changed = true;
      }
    }
    return changed;
  }
  const row = value as Row;
  for (const field of Object.keys(row)) {
    const inner = node.fields.get(field);
    const treatment = inner === undefined ? unnamed(field, node, undocumented) : documented(inner, row[field]);
    if (treatment === undefined) {
      changed = walk(row[field], inner ?? loose, undocumented, treat) || changed;
      continue;
    }
    // Left out, a field is no field that came without a value either.
    if (row[field] === null && treatment !== "exclude") continue;
    const treated = treatment === "exclude" ? undefined : treat(row[field], treatment, field);
    if (treated === undefined) delete row[field];
    else row[field] = treated;
    changed = true;
  }
  return changed;
}

/** An object that came as something else would be kept whole, whatever of it is treated. */
function documented(node: Node, value: unknown): Treatment | undefined {
  if (node.isColumn) return node.treatment;
  const isBare = typeof value !== "object" || value instanceof Numeral;
  return isBare ? (node.treatment ?? treatmentWithin(node)) : undefined;
}

function treatmentWithin(node: Node): Treatment | undefined {
  for (const inner of node.fields.values()) {
    const treatment = inner.isColumn ? inner.treatment : treatmentWithin(inner);
    if (treatment !== undefined) return treatment;
  }
  return undefined;
}

const loose: Node = newNode();

function unnamed(field: string, { isClosed }: Node, undocumented: Treatment | undefined): Treatment | undefined {
  if (isClosed) return "exclude";
  return undocumented !== undefined && isPersonalName(field) ? undocumented : undefined;
}

function unnamedWithin(
  root: Node,
  path: readonly string[],
  undocumented: Treatment | undefined,
): Treatment | undefined {
  let node = root;
  for (const field of path) {
    const inner = node.fields.get(field);
    const treatment = inner === undefined ? unnamed(field, node, undocumented) : undefined;
    if (treatment !== undefined) return treatment;
    node = inner ?? loose;
  }
  return undefined;
}

/** The JSON text of an answer whose data was changed, its numerals digit for digit. */
export function bodyOf({ data, pagination, around }: Envelope): Buffer {
  const block = pagination && {
    next_cursor: pagination.nextCursor ?? null,
    has_more: pagination.hasMore,
    limit: pagination.limit ?? null,
  };
  return Buffer.from(jsonText({ data, pagination: block, meta: around["meta"] }));
}

/** JSON of values as they were parsed. @throws TributaryError where they are nested too deeply to be written again */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new TributaryError(privacyMessages.too_deep(), 1, error);
  }
}
