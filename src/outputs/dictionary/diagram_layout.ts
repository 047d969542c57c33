import { Graph, graphlib, layout } from "@dagrejs/dagre";

export interface Box {
  readonly id: string;
  readonly width: number;
  readonly height: number;
}

interface PlacedBox extends Box {
  readonly x: number;
  readonly y: number;
}

/** The points that a line goes through, `from` first. */
export interface PlacedLine extends Line {
  readonly points: readonly (readonly [x: number, y: number])[];
}

export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly boxes: readonly PlacedBox[];
  readonly lines: readonly PlacedLine[];
}

/** A line between two boxes, by their ids: it is drawn from right to left, because its target stands left. */
interface Line {
  readonly from: string;
  readonly to: string;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

const COLUMN_GAP = 70;
const ROW_GAP = 12;
const GROUP_GAP = 34;

/**
 * Places boxes in columns, each right of its targets; connected boxes stay together, the largest group first. Always the
 * same for the same input.
 */
export function layOut(boxes: readonly Box[], lines: readonly Line[], width: number): Layout {
  const graph = new Graph();
  for (const box of boxes) graph.setNode(box.id, box);
  const drawn = lines.filter(({ from, to }) => from !== to && graph.hasNode(from) && graph.hasNode(to));
  for (const { from, to } of drawn) graph.setEdge(from, to);
  // dagre's own types lead nowhere under Node's resolution.
  const components: readonly string[][] = graphlib.alg.components(graph);
  const groups = components.map(group => new Set(group));
  const parts = groups
    .toSorted((a, b) => b.size - a.size)
    .map(ids =>
      layOutGroup(
        boxes.filter(({ id }) => ids.has(id)),
        drawn.filter(({ from }) => ids.has(from)),
      ),
    );
  return shelved(parts, width);
}

function layOutGroup(boxes: readonly Box[], lines: readonly Line[]): Layout {
  const graph = new Graph();
  graph.setGraph({ rankdir: "RL", ranksep: COLUMN_GAP, nodesep: ROW_GAP, edgesep: ROW_GAP / 2 });
  for (const { id, width, height } of boxes) graph.setNode(id, { width, height });
  for (const { from, to } of lines) graph.setEdge(from, to, {});
  layout(graph);
  // dagre gives the middle of a box.
  const placed = boxes.map(box => {
    const { x, y }: Point = graph.node(box.id);
    return { ...box, x: x - box.width / 2, y: y - box.height / 2 };
  });
  const placeOf = new Map(placed.map(box => [box.id, box]));
  return {
    width: Math.max(...placed.map(({ x, width }) => x + width)),
    height: Math.max(...placed.map(({ y, height }) => y + height)),
    boxes: placed,
    lines: lines.map(line => {
      const [from, to] = [placeOf.get(line.from)!, placeOf.get(line.to)!];
      const { points }: { readonly points: readonly Point[] } = graph.edge(line.from, line.to);
      const leftwards = from.x >= to.x;
      const passing = points.slice(1, -1).map(({ x, y }) => [x, y] as const);
      return { ...line, points: [edgeOf(from, leftwards), ...passing, edgeOf(to, !leftwards)] };
    }),
  };
}

const edgeOf = ({ x, y, width, height }: PlacedBox, left: boolean) => [left ? x : x + width, y + height / 2] as const;

/** Groups beside and below each other, as words of a text, within the width where that is possible. */
function shelved(parts: readonly Layout[], width: number): Layout {
  let [x, y, shelf] = [0, 0, 0];
  const placed = parts.map(part => {
    if (x > 0 && x + part.width > width) [x, y, shelf] = [0, y + shelf + GROUP_GAP, 0];
    const moved = movedBy(part, x, y);
    x += part.width + GROUP_GAP;
    shelf = Math.max(shelf, part.height);
    return moved;
  });
  return {
    width: Math.max(0, ...placed.flatMap(part => part.boxes.map(box => box.x + box.width))),
    height: y + shelf,
    boxes: placed.flatMap(part => part.boxes),
    lines: placed.flatMap(part => part.lines),
  };
}

function movedBy(part: Layout, x: number, y: number): Layout {
  return {
    ...part,
    boxes: part.boxes.map(box => ({ ...box, x: box.x + x, y: box.y + y })),
    lines: part.lines.map(line => ({ ...line, points: line.points.map(([a, b]) => [a + x, b + y] as const) })),
  };
}
