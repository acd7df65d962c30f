import { map, parallel, signal, sleep, task, workflow } from "@engine/sdk";
import { did } from "../did.ts";
import type { Programs } from "../program.ts";
import { add, echo, late } from "./tasks.ts";

export const twoHundredSteps = workflow({ name: "two_hundred_steps" }, async () => {
  let sum = 0;
  for (let i = 1; i <= 200; i++) sum = await add([sum, i]);
  return sum;
});

const page = task({ name: "page" }, async (from: number, ctx) => {
  await did(ctx, `page ${from}`);
  const rows = Array.from({ length: Math.min(3, 8 - from) }, (_, i) => from + i);
  return { rows, next: from + 3 < 8 ? from + 3 : null };
});

export const pageByPage = workflow({ name: "page_by_page" }, async () => {
  const rows: number[] = [];
  for (let from: number | null = 0; from !== null; ) {
    const found: { rows: number[]; next: number | null } = await page(from);
    rows.push(...found.rows);
    from = found.next;
  }
  return rows;
});

const isDone = task({ name: "is_done" }, async (tries: number, ctx) => {
  await did(ctx, `try ${tries}`);
  return tries >= 4;
});

export const asksUntilDone = workflow({ name: "asks_until_done" }, async () => {
  let tries = 1;
  while (!(await isDone(tries))) {
    await sleep(25 * tries);
    tries++;
  }
  return tries;
});

export const asksUntilTooLate = workflow({ name: "asks_until_too_late" }, async () => {
  let isTooLate = false;
  void sleep(500).then(() => {
    isTooLate = true;
  });
  let rounds = 0;
  do {
    await echo("asks");
    await sleep(60);
    rounds++;
  } while (!isTooLate);
  return rounds > 0;
});

export const poolOfThree = workflow({ name: "pool_of_three" }, async () => {
  const left = Array.from({ length: 9 }, (_, i) => i);
  const done: number[] = [];
  const worker = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      done.push(await late({ ms: (next % 3) * 7, value: next }));
    }
  };
  await Promise.all([worker(), worker(), worker()]);
  return done.toSorted();
});

export const inPortions = workflow({ name: "in_portions" }, async (all: readonly number[]) => {
  const sums: number[] = [];
  for (let i = 0; i < all.length; i += 3) {
    const portion = await Promise.all(all.slice(i, i + 3).map((n) => add([n, 100])));
    sums.push(portion.reduce((sum, n) => sum + n, 0));
  }
  return sums;
});

export const outAndIn = workflow({ name: "out_and_in" }, async () => {
  const names = await echo(["a", "b", "c"]);
  const scored = await map(names, async (name, i) => ({ name, score: await add([i, i]) }));
  const best = scored.reduce((a, b) => (b.score > a.score ? b : a));
  return echo(best.name);
});

export const neverTwice = workflow({ name: "never_twice" }, async () => {
  const seen = new Set<string>();
  for (const id of ["a", "b", "a", "c", "b", "a"]) {
    if (seen.has(id)) continue;
    seen.add(id);
    await echo(id);
  }
  return [...seen];
});

export const treeByDepth = workflow({ name: "tree_by_depth" }, async () => {
  const visit = async (name: string, depth: number): Promise<number> => {
    await echo(name);
    if (depth === 0) return 1;
    return 1 + (await visit(`${name}0`, depth - 1)) + (await visit(`${name}1`, depth - 1));
  };
  return visit("n", 2);
});

export const growingQueue = workflow({ name: "growing_queue" }, async () => {
  const queue = [1];
  const order: number[] = [];
  for (let n = queue.shift(); n !== undefined; n = queue.shift()) {
    order.push(await echo(n));
    if (n < 4) queue.push(n * 2, n * 2 + 1);
  }
  return order;
});

export const orderedByGenerator = workflow({ name: "ordered_by_generator" }, async () => {
  async function* numbers(): AsyncGenerator<number> {
    for (let i = 0; i < 4; i++) {
      yield await echo(i);
      await sleep(10);
    }
  }
  let sum = 0;
  for await (const n of numbers()) sum = await add([sum, n]);
  return sum;
});

export const gathersTwoKinds = workflow({ name: "gathers_two_kinds" }, async () => {
  const basket: string[] = [];
  const gather = async (kind: string) => {
    for (;;) {
      const item = await signal<string>(kind);
      if (item === "end" || item === undefined) return;
      basket.push(await echo(`${kind} ${item}`));
    }
  };
  await parallel([() => gather("fruit"), () => gather("bread")]);
  return basket.toSorted();
});

export const slowsDown = workflow({ name: "slows_down" }, async () => {
  const times: number[] = [];
  for (let i = 0; i < 4; i++) {
    times.push(Date.now());
    await echo(i);
    await sleep(40);
  }
  return times.every((time, i) => i === 0 || time - (times[i - 1] ?? 0) >= 40);
});

const countTo = (n: number) => Array.from({ length: n }, (_, i) => i);

export const loops: Programs = {
  two_hundred_steps: {
    sees: "two hundred steps in a row add up",
    output: 20_100,
  },
  page_by_page: {
    sees: "pages are read one after the other until there is none",
    output: countTo(8),
    did: ["page 0", "page 3", "page 6"],
  },
  asks_until_done: {
    sees: "a loop that asks and sleeps ends when the answer is yes",
    output: 4,
    did: ["try 1", "try 2", "try 3", "try 4"],
  },
  asks_until_too_late: {
    sees: "a loop that asks and sleeps ends when its time is over",
    output: true,
  },
  pool_of_three: {
    sees: "three that share a list of work do each of it once",
    output: countTo(9),
    didInAnyOrder: countTo(9).map((i) => `late ${i}`),
  },
  in_portions: {
    sees: "work in portions, each at once, adds up",
    input: countTo(8),
    output: [303, 312, 213],
    didInAnyOrder: countTo(8).map((i) => `add ${i} 100`),
  },
  out_and_in: {
    sees: "work that is spread out comes together again",
    output: "c",
    didInAnyOrder: ['echo ["a","b","c"]', "add 0 0", "add 1 1", "add 2 2", "echo c"],
  },
  never_twice: {
    sees: "what was seen is not done again",
    output: ["a", "b", "c"],
    did: ["echo a", "echo b", "echo c"],
  },
  tree_by_depth: {
    sees: "a tree is walked in its order",
    output: 7,
    did: ["n", "n0", "n00", "n01", "n1", "n10", "n11"].map((name) => `echo ${name}`),
  },
  growing_queue: {
    sees: "a queue that grows while it is worked off is worked off to its end",
    output: [1, 2, 3, 4, 5, 6, 7],
    did: [1, 2, 3, 4, 5, 6, 7].map((n) => `echo ${n}`),
  },
  ordered_by_generator: {
    sees: "a generator that calls and sleeps gives one after the other",
    output: 6,
    did: ["echo 0", "add 0 0", "echo 1", "add 0 1", "echo 2", "add 1 2", "echo 3", "add 3 3"],
  },
  gathers_two_kinds: {
    sees: "two that listen to names of their own gather all that is sent",
    drive: async (outside) => {
      for (const item of ["one", "two", "end"]) {
        await outside.signal("bread", item);
        await outside.signal("fruit", item);
      }
    },
    output: ["bread one", "bread two", "fruit one", "fruit two"],
    didInAnyOrder: ["bread one", "bread two", "fruit one", "fruit two"].map((it) => `echo ${it}`),
  },
  slows_down: {
    sees: "a loop that sleeps makes its rounds not faster than that",
    output: true,
    did: ["echo 0", "echo 1", "echo 2", "echo 3"],
  },
};
