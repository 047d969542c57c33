import { formatTable } from "../src/cli/table.ts";
import type { Figure } from "./figures.ts";

/** The figures as one table. */
export function reportTable(figures: readonly Figure[]): string {
  const right = { align: "right" } as const;
  const columns = [
    { title: "figure" },
    { title: "measured", ...right },
    { title: "min–max", ...right },
    { title: "floor", ...right },
    { title: "ratio", ...right },
    { title: "row path", ...right },
    { title: "wall", ...right },
    { title: "target", ...right },
    { title: "met" },
  ];
  return formatTable(columns, figures.map(line));
}

function line(figure: Figure): string[] {
  const { unit, target, rowPath } = figure;
  const amount = (value: number) => (unit === "ms" ? seconds(value) : megabytes(value));
  const { min, max } = figure;
  return [
    figure.figure,
    amount(figure.measured),
    min === max ? "" : `${amount(min)}–${amount(max)}`,
    amount(figure.floor),
    figure.ratio.toFixed(2),
    rowPath === undefined ? "" : rowPath.toFixed(2),
    seconds(figure.wallMs),
    target.of === "ratio" ? `≤ ${target.most}` : `< ${megabytes(target.most)}`,
    figure.met ? "yes" : "NO",
  ];
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`;
const megabytes = (bytes: number) => `${Math.round(bytes / 1e6)} MB`;
