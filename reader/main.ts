/* The functions that src/rows/page_reader.ts calls. */
export { hasRoom } from "./layout";
export { endOfTape, rows, scan } from "./scan";
export { write } from "./write";
