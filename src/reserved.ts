/** The words that PostgreSQL or DuckDB keeps for itself as column names; a test compares the list with both databases'. */
const words = new Set(
  `all analyse analyze and any array as asc asymmetric both case cast check collate column constraint create current_catalog current_date current_role current_time current_timestamp current_user default deferrable desc describe distinct do else end except false fetch for foreign from grant group having in initially intersect into lambda lateral leading limit localtime localtimestamp not null offset on only or order pivot pivot_longer pivot_wider placing primary qualify references returning select session_user show some summarize symmetric system_user table then to trailing true union unique unpivot user using variadic when where window with`.split(
    " ",
  ),
);

/** Whether a name needs an underscore at its end before it can be a column that nobody has to quote. */
export function isReserved(name: string): boolean {
  return words.has(name);
}

export const reservedWords: ReadonlySet<string> = words;
