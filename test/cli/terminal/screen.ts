import { PassThrough } from "node:stream";

/** A line, and whether it goes on from the one above because that was too long. */
interface Line {
  cells: string[];
  goesOn: boolean;
}

/** A terminal of a kind that moves long lines to the next one, and with them when its window changes; it knows what tributary sends, and throws at all else. */
export class Screen {
  readonly stream: NodeJS.WriteStream;
  /** Lines that did not fit, as they were written. */
  readonly tooLong: string[] = [];
  /** Whether anything came in colour. */
  coloured = false;
  #lines: Line[] = [{ cells: [], goesOn: false }];
  #row = 0;
  #column = 0;
  #columns: number;

  constructor(columns: number, rows = 24) {
    this.#columns = columns;
    const stream = new PassThrough({ decodeStrings: false });
    this.stream = Object.assign(stream, { isTTY: true, columns, rows }) as unknown as NodeJS.WriteStream;
    stream.setEncoding("utf8");
    stream.on("data", (text: string) => this.#take(text));
  }

  /** What stands there, from the first line on. */
  text(): string {
    return this.#lines
      .map(({ cells }) => cells.join("").trimEnd())
      .join("\n")
      .trimEnd();
  }

  resize(columns: number): void {
    if (this.#lines.slice(this.#row + 1).every(({ cells }) => cells.length === 0)) this.#lines.length = this.#row + 1;
    const whole: string[][] = [];
    for (const { cells, goesOn } of this.#lines) {
      if (goesOn) whole.at(-1)!.push(...cells);
      else whole.push([...cells]);
    }
    // The cursor stands at the beginning of the line below all that was written.
    this.#lines = whole.flatMap(cells => {
      const parts = Math.max(1, Math.ceil(cells.length / columns));
      return Array.from({ length: parts }, (_, at) => ({
        cells: cells.slice(at * columns, (at + 1) * columns),
        goesOn: at > 0,
      }));
    });
    this.#row = this.#lines.length - 1;
    this.#columns = columns;
    Object.assign(this.stream, { columns });
  }

  #take(text: string): void {
    for (const [token, order, plain] of text.matchAll(/(\x1b\[[?\d;]*[A-Za-z])|([^\x1b])/gu)) {
      if (order !== undefined) this.#move(order);
      else if (plain === "\n") this.#down(1, true);
      else if (plain !== undefined && plain >= " ") this.#put(plain);
      else throw new Error(`no terminal was to get ${JSON.stringify(token)}`);
    }
  }

  #put(letter: string): void {
    if (this.#column >= this.#columns) {
      this.tooLong.push(this.#line.cells.join(""));
      this.#down(1, true);
      this.#line.goesOn = true;
    }
    const { cells } = this.#line;
    while (cells.length < this.#column) cells.push(" ");
    cells[this.#column++] = letter;
  }

  #move(order: string): void {
    const [, count = "", kind = ""] = /^\x1b\[\??([\d;]*)([A-Za-z])$/.exec(order)!;
    if (kind === "m") this.coloured = true;
    else if (kind === "A") this.#row = Math.max(0, this.#row - Number(count || 1));
    else if (kind === "B") this.#down(Number(count || 1), false);
    else if (kind === "G") this.#column = 0;
    else if (kind === "K" && count === "2") Object.assign(this.#line, { cells: [], goesOn: false });
    else if (kind === "K") this.#line.cells.length = Math.min(this.#column, this.#line.cells.length);
    else if (!(kind === "h" || kind === "l")) throw new Error(`no terminal was to get ${JSON.stringify(order)}`);
  }

  #down(by: number, toStart: boolean): void {
    this.#row += by;
    if (toStart) this.#column = 0;
    while (this.#lines.length <= this.#row) this.#lines.push({ cells: [], goesOn: false });
  }

  get #line(): Line {
    return this.#lines[this.#row]!;
  }
}
