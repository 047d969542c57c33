import { isReserved } from "../../catalog/reserved_words.ts";

/** A name as both databases take it, whatever it is. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** A name as a person would write it: quoted only where it has to be. */
export const bare = (name: string): string =>
  /^[a-z_][a-z0-9_]*$/.test(name) && !isReserved(name) ? name : quoted(name);

export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
