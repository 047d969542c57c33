import fc from "fast-check";
import { expect, test } from "vitest";
import { type Layout, layOut } from "../../../src/outputs/dictionary/diagram_layout.ts";

const boxes = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    id: `b${index}`,
    width: 40 + (index % 5) * 30,
    height: index % 3 === 0 ? 40 : 26,
  }));

const overlapping = ({ boxes }: Layout) =>
  boxes.flatMap((a, index) =>
    boxes
      .slice(index + 1)
      .filter(b => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height)
      .map(b => `${a.id} ${b.id}`),
  );

test("boxes never overlap, lines join what they say, and all of it lies within the drawing, circles included", () => {
  const graph = fc
    .integer({ min: 1, max: 14 })
    .chain(count =>
      fc.tuple(fc.constant(count), fc.array(fc.tuple(fc.nat(count - 1), fc.nat(count - 1)), { maxLength: 25 })),
    );
  fc.assert(
    fc.property(graph, ([count, pairs]) => {
      const lines = [
        ...new Map(
          pairs.filter(([a, b]) => a !== b).map(([a, b]) => [`${a} ${b}`, { from: `b${a}`, to: `b${b}` }]),
        ).values(),
      ];
      const layout = layOut(boxes(count), lines, 600);
      expect(overlapping(layout)).toEqual([]);
      expect(layout.boxes.map(({ id }) => id).sort()).toEqual(
        boxes(count)
          .map(({ id }) => id)
          .sort(),
      );
      expect(layout.lines).toHaveLength(lines.length);
      const placed = new Map(layout.boxes.map(box => [box.id, box]));
      for (const { from, to, points } of layout.lines)
        for (const [id, [x, y]] of [
          [from, points[0]!],
          [to, points.at(-1)!],
        ] as const) {
          const box = placed.get(id)!;
          expect([box.x, box.x + box.width]).toContain(x);
          expect(y).toBe(box.y + box.height / 2);
        }
      for (const { x, y, width, height } of layout.boxes) {
        expect(Math.min(x, y)).toBeGreaterThanOrEqual(0);
        expect(x + width).toBeLessThanOrEqual(layout.width);
        expect(y + height).toBeLessThanOrEqual(layout.height);
      }
      expect(layOut(boxes(count), lines, 600)).toEqual(layout);
    }),
    { numRuns: 80, seed: 11 },
  );
});

test("what is pointed at stands left, a parent beside the middle of its children, and a tree has no crossing lines", () => {
  const lines = [1, 2, 3].map(child => ({ from: `b${child}`, to: "b0" }));
  const { boxes: placed } = layOut(boxes(4), lines, 600);
  const [parent, ...children] = placed;
  for (const child of children) expect(child.x).toBeGreaterThan(parent!.x + parent!.width);
  const middle = ({ y, height }: { y: number; height: number }) => y + height / 2;
  expect(Math.abs(middle(parent!) - middle(children[1]!))).toBeLessThan(8);
});
