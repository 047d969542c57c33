import { hexOf, textHash } from "./text_hash.ts";

/*
 * Identifiers of the other vocabulary: longer, with colons and slashes or like a UUID. The simulator's own, such as DOC-12,
 * can be read off them, so that a path with one finds its row; what doesn't carry the right check digits is no identifier.
 */

const ID = /^([A-Z]{2,4}|fid|fact|run|seg|trace|issue|erp|usr|wf)([-/])([A-Z]{0,2}\d[\w-]*(?: Süd)?|[0-9a-f]{4,8})$/;
const NUMBER = /^[1-9]\d{0,11}$/;

/** Whether a text is an identifier of the simulator's. */
export const isId = (text: string): boolean => text.length < 40 && ID.test(text);

/** What the other vocabulary says for an identifier; any other text is said as it is. */
export function idSaid(text: string): string {
  const [, prefix, separator, rest] = text.length < 40 ? (ID.exec(text) ?? []) : [];
  if (prefix === undefined || rest === undefined) return text;
  const style = textHash(prefix) % 3;
  if (style === 0 && separator === "-" && NUMBER.test(rest)) {
    const hex = hexOf(text, 14);
    return `${hex.slice(0, 8)}-${hex.slice(8, 11)}0-4${hex.slice(11)}-${prefix.toLowerCase()}-${rest.padStart(12, "0")}`;
  }
  if (style === 1) return `${prefix}/${hexOf(text, 6)}/${separator}${rest}`;
  return `urn:${prefix}${separator}${rest}:${hexOf(text, 10)}`;
}

const SAID: readonly RegExp[] = [
  /^[0-9a-f]{8}-[0-9a-f]{3}0-4[0-9a-f]{3}(?<separator>-)(?<prefix>[a-z]+)-0*(?<rest>[1-9]\d*)$/,
  /^(?<prefix>[A-Za-z]+)\/[0-9a-f]{6}\/(?<separator>[-/])(?<rest>.+)$/,
  /^urn:(?<prefix>[A-Za-z]+)(?<separator>[-/])(?<rest>.+):[0-9a-f]{10}$/,
];

/** The identifier behind what `idSaid` said; any other text is itself. */
export function idUnderstood(text: string): string {
  for (const [i, pattern] of SAID.entries()) {
    const { prefix, separator, rest } = pattern.exec(text)?.groups ?? {};
    if (prefix === undefined) continue;
    for (const own of i === 0 ? [prefix.toUpperCase(), prefix] : [prefix]) {
      const plain = `${own}${separator}${rest}`;
      if (idSaid(plain) === text) return plain;
    }
  }
  return text;
}
