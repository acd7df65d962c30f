/** The items of a source until the signal aborts, also where the source itself would not notice. */
export async function* untilAborted<Item>(
  source: AsyncIterable<Item>,
  signal: AbortSignal,
): AsyncGenerator<Item, void, undefined> {
  const items = source[Symbol.asyncIterator]();
  const { promise: aborted, resolve: abort } = Promise.withResolvers<undefined>();
  const onAbort = () => abort(undefined);
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    for (;;) {
      const next = await Promise.race([aborted, items.next()]);
      if (!next || next.done) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
    // Not waited for: a source that hangs would hold the answer up.
    items.return?.().catch(() => {});
  }
}
