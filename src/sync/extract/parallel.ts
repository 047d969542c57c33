/**
 * Runs `task` on the items, `width` at once, and yields the results as they come; up to as many wait for the consumer. After a failure no new task
 * starts; it is thrown after the results that came and the tasks under way.
 */
export async function* inParallel<Item, Result>(
  items: AsyncIterable<Item> | Iterable<Item>,
  width: number,
  task: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const results: Result[] = [];
  const failures: unknown[] = [];
  const iterator = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  let running = 0;
  let exhausted = false;
  let pulling = false;
  let wake = Promise.withResolvers<void>();

  const changed = () => {
    wake.resolve();
    wake = Promise.withResolvers();
  };
  const fail = (error: unknown) => {
    failures.push(error);
    changed();
  };
  const start = (item: Item) => {
    running++;
    task(item)
      .then(result => results.push(result), fail)
      .finally(() => {
        running--;
        changed();
        refill();
      });
  };
  const refill = () => {
    // After a failure nothing new starts; a pull for nothing would be what the consumer waits for in vain.
    if (pulling || failures.length > 0) return;
    pulling = true;
    pull()
      .catch((error: unknown) => {
        exhausted = true;
        fail(error);
      })
      .finally(() => {
        pulling = false;
        // Waking the consumer for nothing would spin: it refills each time it wakes.
        if (exhausted || failures.length > 0) changed();
      });
  };
  const pull = async () => {
    while (!exhausted && failures.length === 0 && running < width && results.length < width) {
      const next = await iterator.next();
      if (next.done === true) exhausted = true;
      else start(next.value);
    }
  };

  try {
    for (;;) {
      while (results.length > 0) yield results.shift()!;
      if (running === 0 && !pulling && (exhausted || failures.length > 0)) break;
      const woken = wake.promise;
      if (!exhausted) refill();
      await woken;
    }
  } finally {
    exhausted = true;
    await iterator.return?.(undefined);
    while (running > 0) await wake.promise;
  }
  if (failures.length > 0) throw failures[0];
}
