/** `1234567` → `1,234,567`. */
export const formatCount = (count: number): string => count.toLocaleString("en-US");

/** `1 row`, `1,234 rows`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${formatCount(count)} ${count === 1 ? one : many}`;
