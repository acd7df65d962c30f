import { expect, test } from "vitest";
import { untilAborted } from "./until-aborted.ts";

/** A source that says when it has been let go. */
function source() {
  const { promise: released, resolve } = Promise.withResolvers<string>();
  async function* items(): AsyncGenerator<number> {
    try {
      yield 1;
      yield 2;
    } finally {
      resolve("released");
    }
  }
  return { items: items(), released };
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const read: Item[] = [];
  for await (const item of items) read.push(item);
  return read;
}

test("MCP-13 who stops reading lets go of what is read", async () => {
  const { items, released } = source();
  for await (const item of untilAborted(items, new AbortController().signal)) {
    expect(item).toBe(1);
    break;
  }
  expect(await released).toBe("released");
});

test("MCP-11 MCP-13 an abort ends the reading, also of a source that says nothing", async () => {
  const abort = new AbortController();
  const { promise: never } = Promise.withResolvers<IteratorResult<number>>();
  const silent = { [Symbol.asyncIterator]: () => ({ next: () => never }) };
  const reading = all(untilAborted(silent, abort.signal));
  abort.abort();
  expect(await reading).toEqual([]);
  expect(await all(untilAborted(source().items, abort.signal))).toEqual([]);
});
