/**
 * What several sources yield, as it comes. At least `width` are open at once; the last ones are begun together, so that they end together. A source is
 * asked for its next value when the one before was taken. After a failure nothing more is asked for; it is thrown after what had come.
 */
export async function* merged<T>(
  sources: readonly (() => AsyncGenerator<T>)[],
  width: number,
): AsyncGenerator<T, void, undefined> {
  const waiting = [...sources];
  const open = new Set<AsyncGenerator<T>>();
  const arrived: { readonly source: AsyncGenerator<T>; readonly value: T }[] = [];
  const failures: unknown[] = [];
  let asked = 0;
  let wake = Promise.withResolvers<void>();

  const ask = (source: AsyncGenerator<T>): void => {
    asked++;
    source
      .next()
      .then(
        result => {
          if (result.done !== true) arrived.push({ source, value: result.value });
          else open.delete(source);
        },
        error => {
          open.delete(source);
          failures.push(error);
        },
      )
      .finally(() => {
        asked--;
        begin();
        wake.resolve();
      });
  };
  const begin = (): void => {
    while (failures.length === 0 && waiting.length > 0 && (open.size < width || waiting.length <= width)) {
      const source = waiting.shift()!();
      open.add(source);
      ask(source);
    }
  };

  try {
    begin();
    for (;;) {
      const next = arrived.shift();
      if (next !== undefined) {
        yield next.value;
        if (failures.length === 0) ask(next.source);
      } else if (asked > 0) {
        wake = Promise.withResolvers();
        await wake.promise;
      } else break;
    }
  } finally {
    waiting.length = 0;
    await Promise.allSettled([...open].map(source => source.return(undefined)));
  }
  if (failures.length > 0) throw failures[0];
}
