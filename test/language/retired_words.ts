/*
 * Words that the project's English avoids: as the first word of a sentence they leave out who does something, elsewhere
 * the field has a word of its own (upsert, retry, checkpoint). Each is written as it stands in a text.
 */

/** No sentence begins with one of these. */
export const retiredBeginnings: readonly string[] = ["What", "Whoever", "That", "Of", "Nobody", "Somebody"];

/** No sentence holds one of these, in small letters or capitals. */
export const retiredWords: readonly string[] = [
  "told",
  "asked",
  "is said",
  "held back",
  "goes on with",
  "put off",
  "misfortune",
  "shelf",
];
