import { formatTable } from "../src/cli/terminal/table.ts";
import { type Figure, isMet, ratioOf } from "./figure.ts";

/** The figures as one table. */
export function reportTable(figures: readonly Figure[]): string {
  const right = { align: "right" } as const;
  const columns = [
    { title: "part" },
    { title: "figure" },
    { title: "database" },
    { title: "measured", ...right },
    { title: "against", ...right },
    { title: "ratio", ...right },
    { title: "target", ...right },
    { title: "met" },
    { title: "rows", ...right },
    { title: "requests", ...right },
    { title: "read", ...right },
    { title: "CPU", ...right },
    { title: "wall", ...right },
    { title: "peak", ...right },
  ];
  return formatTable(columns, figures.map(line));
}

function line(figure: Figure): string[] {
  const { part, warehouse = "", unit, measured, against, target, load } = figure;
  const met = isMet(figure);
  const most = target === undefined ? "" : target.of === "ratio" ? String(target.most) : inUnit(unit, target.most);
  return [
    part,
    figure.figure,
    warehouse,
    inUnit(unit, measured),
    against === undefined ? "" : `${against.what} ${inUnit(unit, against.value)}`,
    ratioOf(figure)?.toFixed(3) ?? "",
    target === undefined ? "" : `≤ ${most}`,
    met === undefined ? "" : met ? "yes" : "NO",
    ...(load === undefined
      ? ["", "", "", "", "", ""]
      : [
          whole(load.rows),
          whole(load.requests),
          megabytes(load.bytes),
          seconds(load.cpuMs),
          seconds(load.wallMs),
          megabytes(load.peakBytes),
        ]),
  ];
}

function inUnit(unit: Figure["unit"], value: number): string {
  switch (unit) {
    case "ms":
      if (value === 0) return "0 s";
      if (value < 1) return `${(value * 1000).toFixed(2)} µs`;
      return value < 100 ? `${value.toFixed(2)} ms` : seconds(value);
    case "bytes":
      return value < 1e4 ? `${whole(value)} B` : megabytes(value);
    default:
      return `${whole(value)}${unit === "rows/s" ? "/s" : ""}`;
  }
}

const whole = (value: number) => Math.round(value).toLocaleString("en-US");
const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`;
const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(bytes < 1e7 ? 2 : 0)} MB`;
