/** A 32-bit hash of a text; equal texts give equal hashes on every machine. */
export function textHash(text: string, seed = 0): number {
  let h = 0x811c9dc5 ^ seed;
  for (let i = 0; i < text.length; i += 1) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 15), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** The first `digits` hexadecimal digits of a text's hash. */
export function hexOf(text: string, digits: number): string {
  const words = Array.from({ length: Math.ceil(digits / 8) }, (_, i) => textHash(text, i + 1));
  return words
    .map(word => word.toString(16).padStart(8, "0"))
    .join("")
    .slice(0, digits);
}
