import { WriteStream } from "node:tty";
import { styleText } from "node:util";

type Colour = "green" | "yellow" | "red" | "cyan" | "dim";

export interface Look {
  /** Cells that a line may take. Undefined: as many as it likes, and everything is shown. */
  readonly width: number | undefined;
  /** The text in a colour, where there are colours. Nothing is told by colour alone. */
  readonly paint: (colour: Colour, text: string) => string;
}

/** Less is no terminal to read on: its lines wrap. */
const NARROWEST = 20;

/** As NO_COLOR, FORCE_COLOR and TERM say; off a terminal FORCE_COLOR alone. */
export function hasColours({ isTTY }: NodeJS.WriteStream, env: NodeJS.ProcessEnv): boolean {
  return (isTTY || env["FORCE_COLOR"] !== undefined) && WriteStream.prototype.getColorDepth(env) > 1;
}

/** How a terminal, or what stands in its place, wants texts. `whole`: everything, whatever its width. */
export function lookOf(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv, whole: boolean): Look {
  const told = Number(env["COLUMNS"]);
  const columns = stream.isTTY ? stream.columns || told || 80 : told;
  const coloured = hasColours(stream, env);
  return {
    width: whole || !(columns > 0) ? undefined : Math.max(NARROWEST, Math.floor(columns)),
    paint: (colour, text) => (coloured ? styleText(colour, text, { validateStream: false }) : text),
  };
}

export function outcome(status: string, { paint }: Look): string {
  if (/^(failed|incomplete|different|FAIL)/.test(status)) return paint("red", status);
  if (/warn|stopped|incomparable/.test(status)) return paint("yellow", status);
  if (/^(succeeded|equal|ok\b)/.test(status)) return paint("green", status);
  return /^running/.test(status) ? paint("cyan", status) : paint("dim", status);
}

/** A word of a command that people copy into their shell: in quotes, where it needs them. */
export const inShell = (word: string): string =>
  /^[\w./@%+=:,][\w./@%+=:,-]*$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
