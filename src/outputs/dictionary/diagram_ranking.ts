import type { Line, Stop } from "./diagram_stops.ts";

/** How often lines between neighbouring columns cross. */
export function crossings(columns: readonly (readonly Stop[])[], steps: readonly Line[]): number {
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
export function ordered(
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
export function settled(
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
