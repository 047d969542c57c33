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

const COLUMN_GAP = 70;
const ROW_GAP = 12;
const GROUP_GAP = 34;

/**
 * Places boxes in columns, each right of everything it points at, so that lines are short and seldom cross; what hangs
 * together stays together, the largest group first. Always the same for the same input.
 */
export function layOut(boxes: readonly Box[], lines: readonly Line[], width: number): Layout {
  const known = new Set(boxes.map(({ id }) => id));
  const drawn = lines.filter(({ from, to }) => from !== to && known.has(from) && known.has(to));
  const groups = connected(boxes, drawn).sort((a, b) => b.length - a.length);
  const parts = groups.map(group => {
    const ids = new Set(group.map(({ id }) => id));
    return layOutGroup(
      group,
      drawn.filter(({ from }) => ids.has(from)),
    );
  });
  return shelved(parts, width);
}

/** Boxes that lines connect, each with all that can be reached from it. */
function connected(boxes: readonly Box[], lines: readonly Line[]): (readonly Box[])[] {
  const groupOf = new Map(boxes.map(box => [box.id, [box]]));
  for (const { from, to } of lines) {
    const [a, b] = [groupOf.get(from)!, groupOf.get(to)!];
    if (a === b) continue;
    a.push(...b);
    for (const { id } of b) groupOf.set(id, a);
  }
  const order = new Map(boxes.map(({ id }, index) => [id, index]));
  return [...new Set(groupOf.values())].map(group => group.sort((a, b) => order.get(a.id)! - order.get(b.id)!));
}

function layOutGroup(boxes: readonly Box[], lines: readonly Line[]): Layout {
  const columnOf = columns(boxes, lines);
  const last = Math.max(...columnOf.values());
  const grid: Stop[][] = Array.from({ length: last + 1 }, () => []);
  for (const box of boxes) grid[columnOf.get(box.id)!]!.push(box);
  const steps: Line[] = [];
  const ways = lines.map(line => {
    const [start, end] = [columnOf.get(line.from)!, columnOf.get(line.to)!];
    const way = [line.from];
    for (
      let column = start - Math.sign(start - end);
      column !== end && start !== end;
      column -= Math.sign(start - end)
    ) {
      const id = `${line.from}→${line.to}@${column}`;
      if (!grid[column]!.some(stop => stop.id === id)) grid[column]!.push({ id, height: 4 });
      way.push(id);
    }
    way.push(line.to);
    for (const [index, to] of way.slice(1).entries()) steps.push({ from: way[index]!, to });
    return { line, way };
  });
  const best = bestOrder(grid, steps);
  const tops = settled(best, steps, ROW_GAP);
  const sizes = new Map(boxes.map(box => [box.id, box]));
  const widths = best.map(column => Math.max(0, ...column.map(({ id }) => sizes.get(id)?.width ?? 0)));
  const lefts = widths.map((_, index) => widths.slice(0, index).reduce((sum, width) => sum + width + COLUMN_GAP, 0));
  const placed = boxes.map(box => ({ ...box, x: lefts[columnOf.get(box.id)!]!, y: tops.get(box.id)! }));
  const placeOf = new Map(placed.map(box => [box.id, box]));
  const columnAt = new Map(best.flatMap((column, index) => column.map(({ id }) => [id, index] as const)));
  return {
    width: lefts.at(-1)! + widths.at(-1)!,
    height: Math.max(...placed.map(box => box.y + box.height)),
    boxes: placed,
    lines: ways.map(({ line, way }) => ({
      ...line,
      points: pointsOf(way, placeOf, id => [lefts[columnAt.get(id)!]!, widths[columnAt.get(id)!]!, tops.get(id)!]),
    })),
  };
}

/** Column 0 points at nothing; a circle is cut where it is first met. */
function columns(boxes: readonly Box[], lines: readonly Line[]): ReadonlyMap<string, number> {
  const targets = Map.groupBy(lines, line => line.from);
  const known = new Map<string, number>();
  const visit = (id: string, way: ReadonlySet<string>): number => {
    const found = known.get(id);
    if (found !== undefined) return found;
    const next = (targets.get(id) ?? []).filter(({ to }) => !way.has(to));
    const column = Math.max(-1, ...next.map(({ to }) => visit(to, new Set([...way, id])))) + 1;
    known.set(id, column);
    return column;
  };
  for (const { id } of boxes) visit(id, new Set([id]));
  return known;
}

function bestOrder(grid: readonly (readonly Stop[])[], steps: readonly Line[]): readonly (readonly Stop[])[] {
  let best = grid;
  let fewest = crossings(grid, steps);
  let present = grid;
  for (let sweep = 0; sweep < 8 && fewest > 0; sweep++) {
    present = ordered(present, steps, sweep % 2 === 0);
    const count = crossings(present, steps);
    if (count < fewest) [best, fewest] = [present, count];
  }
  return best;
}

function pointsOf(
  way: readonly string[],
  boxes: ReadonlyMap<string, PlacedBox>,
  passing: (id: string) => readonly [left: number, width: number, top: number],
): PlacedLine["points"] {
  const [first, last] = [boxes.get(way[0]!)!, boxes.get(way.at(-1)!)!];
  const leftwards = first.x >= last.x;
  const edge = (box: PlacedBox, left: boolean): [number, number] => [
    left ? box.x : box.x + box.width,
    box.y + box.height / 2,
  ];
  const between = way.slice(1, -1).flatMap((id): [number, number][] => {
    const [left, width, top] = passing(id);
    const ends: [number, number][] = [
      [left + width, top + 2],
      [left, top + 2],
    ];
    return leftwards ? ends : ends.reverse();
  });
  return [edge(first, leftwards), ...between, edge(last, !leftwards)];
}

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

/** A line between two boxes, by their ids: it is drawn from right to left, for what is pointed at stands left. */
interface Line {
  readonly from: string;
  readonly to: string;
}

/** A place in a column: a box, or where a line passes through a column that it doesn't end in. */
interface Stop {
  readonly id: string;
  readonly height: number;
}

/** How often lines between neighbouring columns cross. */
function crossings(columns: readonly (readonly Stop[])[], steps: readonly Line[]): number {
  const place = placesOf(columns);
  const byColumn = Map.groupBy(steps, ({ from, to }) => Math.min(place.get(from)![0], place.get(to)![0]));
  let count = 0;
  for (const between of byColumn.values()) {
    const ends = between.map(({ from, to }) => {
      const [a, b] = [place.get(from)!, place.get(to)!];
      return a[0] < b[0] ? [a[1], b[1]] : [b[1], a[1]];
    });
    for (const [index, [a, b]] of ends.entries())
      for (const [c, d] of ends.slice(index + 1)) if ((a! - c!) * (b! - d!) < 0) count++;
  }
  return count;
}

/** The columns, one after another from either side, each in the order of what its stops are connected with in the column before. */
function ordered(
  columns: readonly (readonly Stop[])[],
  steps: readonly Line[],
  fromLeft: boolean,
): readonly (readonly Stop[])[] {
  const next = neighbours(steps);
  const result = [...columns];
  const indexes = fromLeft ? result.keys().drop(1) : [...result.keys()].reverse().slice(1);
  for (const index of indexes) {
    const before = new Map(result[fromLeft ? index - 1 : index + 1]!.map(({ id }, place) => [id, place]));
    const wanted = new Map(
      result[index]!.map(({ id }, place) => {
        const places = (next.get(id) ?? []).flatMap(other => before.get(other) ?? []);
        return [id, places.length === 0 ? place : mean(places)];
      }),
    );
    result[index] = result[index]!.toSorted((a, b) => wanted.get(a.id)! - wanted.get(b.id)!);
  }
  return result;
}

/** The top of each stop: as near to the height of what it is connected with as the order and the gap allow. */
function settled(
  columns: readonly (readonly Stop[])[],
  steps: readonly Line[],
  gap: number,
): ReadonlyMap<string, number> {
  const next = neighbours(steps);
  const heights = new Map(columns.flatMap(column => column.map(({ id, height }) => [id, height] as const)));
  const tops = new Map<string, number>();
  for (const column of columns) {
    let top = 0;
    for (const { id, height } of column) {
      tops.set(id, top);
      top += height + gap;
    }
  }
  const middle = (id: string) => tops.get(id)! + heights.get(id)! / 2;
  for (let pass = 0; pass < 10; pass++) {
    for (const column of pass % 2 === 0 ? columns : columns.toReversed()) {
      const wanted = column.map(({ id, height }) => {
        const others = next.get(id) ?? [];
        return (others.length === 0 ? middle(id) : mean(others.map(middle))) - height / 2;
      });
      for (const [index, top] of apart(wanted, column, gap).entries()) tops.set(column[index]!.id, top);
    }
  }
  const highest = Math.min(...tops.values());
  return new Map([...tops].map(([id, top]) => [id, Math.round(top - highest)]));
}

/** The tops nearest to the wanted ones, by least squares, that keep the order and the gap: neighbours that would overlap move as one. */
function apart(wanted: readonly number[], column: readonly Stop[], gap: number): readonly number[] {
  const offsets: number[] = [];
  let offset = 0;
  for (const { height } of column) {
    offsets.push(offset);
    offset += height + gap;
  }
  const blocks: { sum: number; count: number }[] = [];
  for (const [index, top] of wanted.entries()) {
    let block = { sum: top - offsets[index]!, count: 1 };
    for (
      let above = blocks.at(-1);
      above !== undefined && above.sum / above.count >= block.sum / block.count;
      above = blocks.at(-1)
    ) {
      blocks.pop();
      block = { sum: above.sum + block.sum, count: above.count + block.count };
    }
    blocks.push(block);
  }
  return blocks
    .flatMap(({ sum, count }) => Array<number>(count).fill(sum / count))
    .map((top, index) => top + offsets[index]!);
}

function placesOf(
  columns: readonly (readonly Stop[])[],
): ReadonlyMap<string, readonly [column: number, place: number]> {
  return new Map(
    columns.flatMap((stops, column) => stops.map(({ id }, place) => [id, [column, place] as const] as const)),
  );
}

function neighbours(steps: readonly Line[]): ReadonlyMap<string, readonly string[]> {
  const next = new Map<string, string[]>();
  for (const { from, to } of steps) {
    for (const [a, b] of [
      [from, to],
      [to, from],
    ] as const) {
      const known = next.get(a);
      if (known === undefined) next.set(a, [b]);
      else known.push(b);
    }
  }
  return next;
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
