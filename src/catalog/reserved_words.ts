/** The words that PostgreSQL or DuckDB takes as a column's name in quotes only; a test compares the list with both databases. */
export const reservedWords: ReadonlySet<string> = new Set(
  `all analyse analyze and anti any array as asc asof asymmetric at authorization binary both by case cast check collate collation column concurrently constraint create cross current_catalog current_date current_role current_schema current_time current_timestamp current_user default deferrable desc describe distinct do else end except false fetch for foreign freeze from full glob grant group having ilike in initially inner intersect into is isnull join lambda lateral leading left like limit localtime localtimestamp natural not notnull null offset on only or order outer overlaps pivot pivot_longer pivot_wider placing positional primary qualify references returning right select semi session_user show similar some summarize symmetric system_user table tablesample then to trailing true union unique unpack unpivot user using variadic verbose when where window with`.split(
    " ",
  ),
);

/** Whether a name needs an underscore at its end before it can be a column that nobody has to quote. */
export const isReserved = (name: string): boolean => reservedWords.has(name);
