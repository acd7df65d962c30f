import { map, parallel, sleep, task, workflow } from "@engine/sdk";
import { did } from "../did.ts";
import type { Programs } from "../program.ts";
import { add, echo, fails, hangs, late, upper } from "./tasks.ts";

export const allInTheirOrder = workflow({ name: "all_in_their_order" }, async () => {
  const all = [30, 10, 20].map((ms) => late({ ms, value: `after ${ms}` }));
  return await Promise.all(all);
});

export const oneByOne = workflow({ name: "one_by_one" }, async (items: readonly string[]) => {
  const out: string[] = [];
  for (const item of items) out.push(await upper(item));
  return out;
});

export const allOfThem = workflow({ name: "all_of_them" }, (items: readonly string[]) =>
  Promise.all(items.map((item) => upper(item))),
);

export const mapped = workflow({ name: "mapped" }, (items: readonly string[]) =>
  map(items, (item) => upper(item)),
);

export const branched = workflow({ name: "branched" }, (items: readonly string[]) =>
  parallel(items.map((item) => () => upper(item))),
);

export const twoAtATime = workflow({ name: "two_at_a_time" }, (items: readonly string[]) =>
  map(items, (item, i) => late({ ms: 5 * i, value: item }), { concurrency: 2 }),
);

export const twoLines = workflow({ name: "two_lines" }, async () => {
  const steps = async () => {
    let height = await add([0, 4]);
    height = await add([height, 4]);
    return add([height, 2]);
  };
  const doors = async () => {
    const all = await Promise.all(["front", "back", "cellar"].map((name) => upper(name)));
    return all.join(", ");
  };
  return Promise.all([steps(), doors()]);
});

const PARCELS: Readonly<Record<string, number>> = { monday: 12, tuesday: 7, friday: 31 };

export const sumInTurn = workflow({ name: "sum_in_turn" }, () =>
  Object.keys(PARCELS).reduce(async (sum, day) => {
    const before = await sum;
    return before + (await echo(PARCELS[day] ?? 0));
  }, Promise.resolve(0)),
);

export const sumAtOnce = workflow({ name: "sum_at_once" }, () =>
  Object.keys(PARCELS).reduce(async (sum, day) => {
    const parcels = await echo(PARCELS[day] ?? 0);
    return (await sum) + parcels;
  }, Promise.resolve(0)),
);

export const settledAll = workflow({ name: "settled_all" }, async () => {
  const all = await Promise.allSettled([echo(1), fails("two"), echo(3), fails("four")]);
  return all.map((one) => (one.status === "fulfilled" ? one.value : (one.reason as Error).message));
});

export const settledBranches = workflow({ name: "settled_branches" }, async () => {
  const all = await parallel([() => echo(1), () => fails("two"), () => 3], { settle: true });
  return all.map((one) => (one.status === "fulfilled" ? one.value : one.failure.message));
});

export const firstFailure = workflow({ name: "first_failure" }, async () => {
  try {
    return await parallel([() => hangs("left"), () => fails("right"), () => hangs("far")]);
  } catch (error) {
    return (error as Error).message;
  }
});

export const othersGoOn = workflow({ name: "others_go_on" }, async () => {
  const slow = late({ ms: 150, value: "still there" });
  const message = await Promise.all([slow, fails("early")]).catch((error: Error) => error.message);
  return [message, await slow];
});

export const ofNothing = workflow({ name: "of_nothing" }, async () => [
  await Promise.all([]),
  await Promise.allSettled([]),
  await parallel([]),
  await map([], () => echo("never")),
  await Promise.any([]).catch((error: Error) => error.name),
]);

export const oneForTwo = workflow({ name: "one_for_two" }, async () => {
  const shared = echo("once");
  const [a, b] = await Promise.all([shared, shared.then((text) => `${text}, twice`)]);
  return [a, b, await shared];
});

export const treeOfThem = workflow({ name: "tree_of_them" }, async () => {
  const leaf = async (depth: number, name: string): Promise<number> => {
    if (depth === 0) return (await echo(name)).length;
    const parts = await Promise.all([leaf(depth - 1, `${name}l`), leaf(depth - 1, `${name}r`)]);
    return parts[0] + parts[1];
  };
  return leaf(3, "t");
});

export const hundred = workflow({ name: "hundred" }, async () => {
  const all = await Promise.all(Array.from({ length: 100 }, (_, i) => add([i, i])));
  return all.reduce((sum, one) => sum + one, 0);
});

export const microtasks = workflow({ name: "microtasks" }, async () => {
  const seen: string[] = ["a"];
  const timer = new Promise<void>((resolve) => {
    setTimeout(() => {
      seen.push("d");
      resolve();
    }, 0);
  });
  const micro = Promise.resolve()
    .then(() => seen.push("c1"))
    .then(() => seen.push("c2"));
  seen.push("b");
  await Promise.all([timer, micro]);
  await echo(seen.join());
  return seen;
});

export const behindTheBack = workflow({ name: "behind_the_back" }, async () => {
  const notes: string[] = [];
  const aside = (async () => {
    notes.push(await echo("aside"));
  })();
  notes.push(await echo("main"));
  await aside;
  return notes.toSorted();
});

export const leftBehind = workflow({ name: "left_behind" }, async () => {
  void hangs("nobody waits for it").catch(() => {});
  return echo("done");
});

export const failsBehindTheBack = workflow({ name: "fails_behind_the_back" }, async () => {
  const aside = fails("aside");
  await echo("main");
  await aside.catch(() => echo("caught later"));
  return "fine";
});

export const sharedCounter = workflow({ name: "shared_counter" }, async () => {
  let count = 0;
  const order: number[] = [];
  await map([0, 1, 2, 3, 4], async (i) => {
    await late({ ms: (5 - i) * 8, value: i });
    order.push(i);
    count++;
    await echo(count);
  });
  return [count, order.toSorted()];
});

const inner = task({ name: "inner" }, async (name: string, ctx) => {
  await did(ctx, `inner ${name}`);
  return name;
});

export const deepBranches = workflow({ name: "deep_branches" }, () =>
  parallel([
    () => parallel([() => inner("a"), () => map(["b", "c"], (name) => inner(name))]),
    async () => {
      await sleep(30);
      return parallel([() => inner("d"), () => parallel([() => inner("e")])]);
    },
  ]),
);

const ITEMS = ["ash", "beech", "cedar", "elm"];
const UPPER = ITEMS.map((item) => item.toUpperCase());
const EACH = ITEMS.map((item) => `upper ${item}`);

export const atOnce: Programs = {
  all_in_their_order: {
    sees: "results come in the order of the calls, whichever ended first",
    output: ["after 30", "after 10", "after 20"],
    didInAnyOrder: ["late after 30", "late after 10", "late after 20"],
  },
  one_by_one: {
    sees: "calls in turn give their results in turn",
    input: ITEMS,
    output: UPPER,
    did: EACH,
  },
  all_of_them: {
    sees: "the same calls at once give the same results",
    input: ITEMS,
    output: UPPER,
    didInAnyOrder: EACH,
  },
  mapped: {
    sees: "the same calls by map give the same results",
    input: ITEMS,
    output: UPPER,
    didInAnyOrder: EACH,
  },
  branched: {
    sees: "the same calls in parallel branches give the same results",
    input: ITEMS,
    output: UPPER,
    didInAnyOrder: EACH,
  },
  two_at_a_time: {
    sees: "the same calls two at a time give the same results",
    input: ITEMS,
    output: ITEMS,
    didInAnyOrder: ITEMS.map((item) => `late ${item}`),
  },
  two_lines: {
    sees: "two lines of work go on beside each other, one in turn, one at once",
    output: [10, "FRONT, BACK, CELLAR"],
    didInAnyOrder: ["add 0 4", "add 4 4", "add 8 2", "upper front", "upper back", "upper cellar"],
  },
  sum_in_turn: {
    sees: "a sum that waits for each part before it asks for the next",
    output: 50,
    did: ["echo 12", "echo 7", "echo 31"],
  },
  sum_at_once: {
    sees: "a sum that asks for all parts at once is the same",
    output: 50,
    didInAnyOrder: ["echo 12", "echo 7", "echo 31"],
  },
  settled_all: {
    sees: "waiting for all, whatever becomes of them, tells of each how it ended",
    output: [1, "two", 3, "four"],
    didInAnyOrder: ["echo 1", "fails two", "echo 3", "fails four"],
  },
  settled_branches: {
    sees: "branches that may fail tell of each how it ended",
    output: [1, "two", 3],
    didInAnyOrder: ["echo 1", "fails two"],
  },
  first_failure: {
    sees: "the first branch that fails stops the others, and its error is what is caught",
    output: "right",
  },
  others_go_on: {
    sees: "when one of several calls fails the others go on, and can still be waited for",
    output: ["early", "still there"],
    didInAnyOrder: ["late still there", "fails early"],
  },
  of_nothing: {
    sees: "waiting for nothing is over at once",
    output: [[], [], [], [], "AggregateError"],
    did: [],
  },
  one_for_two: {
    sees: "a call that two wait for is made once",
    output: ["once", "once, twice", "once"],
    did: ["echo once"],
  },
  tree_of_them: {
    sees: "calls inside of calls at once, three levels deep, all come together",
    output: 32,
    didInAnyOrder: ["lll", "llr", "lrl", "lrr", "rll", "rlr", "rrl", "rrr"].map(
      (name) => `echo t${name}`,
    ),
  },
  hundred: {
    sees: "a hundred calls at once each give their own result",
    output: 9_900,
    didInAnyOrder: Array.from({ length: 100 }, (_, i) => `add ${i} ${i}`),
  },
  microtasks: {
    sees: "promises that are settled already go before timers, as anywhere",
    output: ["a", "b", "c1", "c2", "d"],
    did: ["echo a,b,c1,c2,d"],
  },
  behind_the_back: {
    sees: "work that is begun and awaited later is done once",
    output: ["aside", "main"],
    didInAnyOrder: ["echo aside", "echo main"],
  },
  left_behind: {
    sees: "a workflow that returns ends what it has begun and does not wait for",
    output: "done",
    didInAnyOrder: ["hangs nobody waits for it", "echo done"],
  },
  fails_behind_the_back: {
    sees: "an error that is caught late is caught",
    output: "fine",
    didInAnyOrder: ["fails aside", "echo main", "echo caught later"],
  },
  shared_counter: {
    sees: "branches that share a variable count without losing one",
    output: [5, [0, 1, 2, 3, 4]],
  },
  deep_branches: {
    sees: "branches within branches give their results at their places",
    output: [
      ["a", ["b", "c"]],
      ["d", ["e"]],
    ],
    didInAnyOrder: ["inner a", "inner b", "inner c", "inner d", "inner e"],
  },
};
