/* Words of our own English that stop strangers. Pages, help texts and comments are held against these two lists. */

/** No sentence begins with these: the clause behind them has no subject. */
export const retiredBeginnings: readonly string[] = ["What", "Whoever", "That", "Of", "Nobody", "Somebody"];

/** Pictures where the field has a word: upsert, checkpoint, retry, lock, dead letter … */
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
