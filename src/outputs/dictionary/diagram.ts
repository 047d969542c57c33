import { html } from "hono/html";
import { counted } from "../../counted.ts";
import { type Box, type Layout, layOut, type PlacedLine } from "./diagram_layout.ts";
import type { Dictionary, Domain, ModelEntry, TableEntry } from "./dictionary.ts";
import { joinOf, type Link } from "./links.ts";

export interface Diagram {
  readonly title: string;
  readonly layout: Layout;
  readonly nodes: ReadonlyMap<string, Node>;
  /** By `from to` of a line. */
  readonly relations: ReadonlyMap<string, Relation>;
  /** Sentences about links that are not drawn, as they would cover everything else. */
  readonly leftOut: readonly string[];
}

interface Node {
  readonly name: string;
  readonly more: string | undefined;
  readonly elsewhere: boolean;
  /** The table whose description tells of it, where that is not its own. */
  readonly told?: string;
}

interface Relation {
  readonly certain: boolean;
  readonly words: string;
}

const LETTER = 7.3;
const WIDTH = 960;
/** Where so many tables of a subject point at the same one, a drawing of it shows nothing else. */
const CROWD = 7;

/** A table with so many below it is a main one, whether or not another points at it. */
const LARGE = 4;

export function domainDiagram(domain: Domain): Diagram {
  const own = new Set(domain.tables.map(({ name }) => name));
  const all = domain.tables.flatMap(table => [...table.out, ...askedBy(table).filter(({ from }) => !own.has(from))]);
  const { drawn, leftOut } = uncrowded(
    all,
    ({ from }) => from,
    name => !own.has(name),
  );
  const nodes = new Map<string, Node>();
  for (const name of drawn.flatMap(({ from, to }) => [from, to]))
    if (!own.has(name)) nodes.set(name, { name, more: undefined, elsewhere: true });
  for (const { name } of domain.tables) nodes.set(name, { name, more: undefined, elsewhere: false });
  return diagram(
    domain.title,
    nodes,
    relationsOf(drawn, name => name),
    leftOut,
  );
}

/** Assumed links without those to a table that so many point at; what is said of them instead. */
function uncrowded(
  links: readonly Link[],
  endOf: (link: Link) => string,
  mayGo: (table: string) => boolean,
): { readonly drawn: readonly Link[]; readonly leftOut: readonly string[] } {
  const assumed = links.filter(({ to, certain }) => !certain && mayGo(to));
  const crowded = [...Map.groupBy(assumed, ({ to }) => to)].filter(([, own]) => new Set(own.map(endOf)).size >= CROWD);
  const hubs = new Set(crowded.map(([to]) => to));
  return {
    drawn: links.filter(({ to, certain }) => certain || !hubs.has(to)),
    leftOut: crowded.map(
      ([to, own]) =>
        `${new Set(own.map(({ from }) => from)).size} tables also point at ${to} by ${[...new Set(own.map(joinOf))].join(", ")}; that is not drawn.`,
    ),
  };
}

const askedBy = (table: TableEntry): readonly Link[] =>
  table.in.filter(({ from }) => table.main === undefined && from === table.stream.parent);

/** The tables that others hang on, each for itself and all below it, and how those groups are connected. */
export function overviewDiagram({ domains, models, links }: Dictionary): Diagram {
  const tables = new Map(domains.flatMap(domain => domain.tables.map(table => [table.name, table] as const)));
  const rootOf = (name: string): string => {
    const above = aboveOf(tables.get(name));
    return above === undefined ? name : rootOf(above);
  };
  const { drawn, leftOut } = uncrowded(
    links,
    ({ from }) => rootOf(from),
    () => true,
  );
  const relations = relationsOf(drawn, rootOf);
  const below = Map.groupBy(tables.keys(), rootOf);
  const isModel = new Set(models.map(({ name }) => name));
  const ends = new Set([...relations.keys()].flatMap(pair => pair.split(" ")));
  const nodes = new Map(
    [...tables.keys(), ...isModel]
      .filter(name => ends.has(name) || (below.get(name)?.length ?? 0) >= LARGE)
      .map(name => {
        const count = (below.get(name)?.length ?? 1) - 1;
        const more = isModel.has(name) ? "view" : count === 0 ? undefined : `+ ${counted(count, "table")}`;
        return [name, { name, more, elsewhere: isModel.has(name) }];
      }),
  );
  return diagram("The main tables", nodes, relations, leftOut);
}

/**
 * Where a model's values come from: the tables and models that it reads them from, down to the API. Another model that brings
 * many tables together is a box with their number, and has a drawing of its own.
 */
export function lineageDiagram(
  { name, columns }: Pick<ModelEntry, "name" | "columns">,
  models: ReadonlySet<string>,
): Diagram {
  const steps = new Map(columns.flatMap(column => column.steps.map(step => [`${step.by} ${step.of}`, step] as const)));
  const below = Map.groupBy(steps.values(), ({ by }) => by);
  const isCrowded = (id: string) => id !== name && (below.get(id)?.length ?? 0) > CROWD;
  const nodes = new Map<string, Node>();
  const relations = new Map<string, Relation>();
  const draw = (id: string, by: string | undefined): void => {
    if (by !== undefined) relations.set(`${by} ${id}`, { certain: true, words: `${by} from ${id}` });
    if (nodes.has(id)) return;
    const told = id.startsWith("/") ? by : undefined;
    const more = isCrowded(id) ? `view of ${below.get(id)!.length} others` : models.has(id) ? "view" : undefined;
    const node = told === undefined ? { name: id } : { name: `GET ${id}`, told };
    nodes.set(id, { ...node, more, elsewhere: told !== undefined });
    if (!isCrowded(id)) for (const step of below.get(id) ?? []) draw(step.of, id);
  };
  draw(name, undefined);
  return diagram(`Where ${name} comes from`, nodes, relations, []);
}

/** A child's main table, or the one list whose rows or values a detail was asked for. */
function aboveOf(table: TableEntry | undefined): string | undefined {
  if (table === undefined) return undefined;
  const { main, stream } = table;
  return main ?? (stream.values_of.length > 1 ? undefined : (stream.parent ?? undefined));
}

function relationsOf(links: readonly Link[], nameOf: (table: string) => string): ReadonlyMap<string, Relation> {
  const pairs = Map.groupBy(links, link => `${nameOf(link.from)} ${nameOf(link.to)}`);
  const between = [...pairs].filter(([pair]) => pair.split(" ")[0] !== pair.split(" ")[1]);
  return new Map(
    between.map(([pair, links]) => [
      pair,
      { certain: links.some(link => link.certain), words: links.map(inWords).join("; ") },
    ]),
  );
}

const inWords = (link: Link): string =>
  `${link.from} → ${link.to} by ${joinOf(link)}${link.certain ? "" : " (assumed)"}`;

function diagram(
  title: string,
  nodes: ReadonlyMap<string, Node>,
  relations: ReadonlyMap<string, Relation>,
  leftOut: readonly string[],
): Diagram {
  const boxes = [...nodes].map(([id, { name, more }]): Box => {
    const letters = Math.max(name.length, (more?.length ?? 0) * 0.9);
    return { id, width: Math.round(letters * LETTER) + 20, height: more === undefined ? 26 : 40 };
  });
  const lines = [...relations.keys()].map(pair => {
    const [from = "", to = ""] = pair.split(" ");
    return { from, to };
  });
  return { title, layout: layOut(boxes, lines, WIDTH), nodes, relations, leftOut };
}

/** The drawing. `address` is where a table's description is. */
export function drawing({ title, layout, nodes, relations }: Diagram, address: (table: string) => string) {
  const [width, height] = [Math.ceil(layout.width) + 8, Math.ceil(layout.height) + 8];
  const lines = layout.lines.map(line => {
    const { certain, words } = relations.get(`${line.from} ${line.to}`)!;
    const [x, y] = line.points.at(-1)!;
    return html`<path class="${certain ? "certain" : "assumed"}" data-ends="${line.from} ${line.to}" d="${curve(line)}"><title>${words}</title></path><circle class="${certain ? "certain" : "assumed"}" data-ends="${line.from} ${line.to}" cx="${round(x)}" cy="${round(y)}" r="3"/>`;
  });
  const boxes = layout.boxes.map(({ id, x, y, width, height }) => {
    const { name, more, elsewhere, told = name } = nodes.get(id)!;
    const middle = more === undefined ? y + height / 2 + 4 : y + 17;
    return html`<a href="${address(told)}" data-box="${id}" class="${elsewhere ? "box elsewhere" : "box"}"><rect x="${round(x)}" y="${round(y)}" width="${width}" height="${height}" rx="5"/><text x="${round(x + 10)}" y="${round(middle)}">${name}</text>${more === undefined ? "" : html`<text class="more" x="${round(x + 10)}" y="${round(y + 32)}">${more}</text>`}</a>`;
  });
  return html`<svg xmlns="http://www.w3.org/2000/svg" class="diagram" viewBox="-4 -4 ${width} ${height}" width="${width}" height="${height}" role="group" aria-label="Diagram: ${title}">${lines}${boxes}</svg>`;
}

/** Horizontal where it begins and ends. */
function curve({ points }: PlacedLine): string {
  const [[x, y] = [0, 0], ...rest] = points;
  let [a, b] = [x, y];
  const parts = rest.map(([c, d]) => {
    const middle = round((a + c) / 2);
    const part =
      a === c ? `L${round(c)} ${round(d)}` : `C${middle} ${round(b)} ${middle} ${round(d)} ${round(c)} ${round(d)}`;
    [a, b] = [c, d];
    return part;
  });
  return `M${round(x)} ${round(y)}${parts.join("")}`;
}

const round = (value: number): number => Math.round(value * 10) / 10;

export function drawingFile(shown: Diagram, address: (table: string) => string): string {
  return String(drawing(shown, address)).replace(">", `><style>${looks}</style>`);
}

const looks = `
svg{color-scheme:light dark;font:12px ui-monospace,Menlo,Consolas,monospace}
.box rect{fill:#fff;stroke:#9aa7b5}.box text{fill:#18212c}.box .more{fill:#556272;font-size:11px}
.elsewhere rect{fill:#eef1f5;stroke-dasharray:3 2}path{fill:none;stroke:#3b6fd0;stroke-width:1.4}circle{fill:#3b6fd0}path.assumed{stroke:#8a5a00;stroke-dasharray:5 4}circle.assumed{fill:#8a5a00}
@media(prefers-color-scheme:dark){.box rect{fill:#161d26;stroke:#4b5a6a}.box text{fill:#e7edf4}.box .more{fill:#9dabbb}.elsewhere rect{fill:#232d38}path{stroke:#76a7ff}circle{fill:#76a7ff}path.assumed{stroke:#e0a52c}circle.assumed{fill:#e0a52c}}`;
