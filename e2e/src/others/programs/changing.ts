/** Workflows that change what they were given, as much code does. */
import { call, map, parallel, pause, signal, sleep, task, workflow } from "@engine/sdk";
import { did } from "../did.ts";
import type { Programs } from "../program.ts";
import { echo, told } from "./tasks.ts";

interface Work {
  readonly items: string[];
}

export const emptiesItsInput = workflow({ name: "empties_its_input" }, async (input: Work) => {
  const done: string[] = [];
  while (input.items.length > 0) {
    done.push(await echo(input.items.shift() as string));
    await sleep(10);
  }
  return [done, input.items.length];
});

export const emptiesWithLetters = workflow(
  { name: "empties_with_letters" },
  async (input: Work) => {
    const done: string[] = [];
    void signal("go_on");
    for (let item = input.items.pop(); item !== undefined; item = input.items.pop()) {
      done.push(await echo(item));
    }
    return done;
  },
);

export const changesItsInput = workflow(
  { name: "changes_its_input" },
  async (input: { count: number; tags?: string[]; nested: { n: number } }) => {
    input.count++;
    delete input.tags;
    input.nested.n *= 2;
    await echo([input.count, input.nested.n, "tags" in input]);
    await sleep(20);
    input.count++;
    await pause("ask");
    return [input.count, input.nested.n, "tags" in input];
  },
);

const lists = task({ name: "lists" }, async (names: readonly string[], ctx) => {
  await did(ctx, `lists ${names.join()}`);
  return { names: [...names], at: new Date(1_000) };
});

export const changesAResult = workflow({ name: "changes_a_result" }, async () => {
  const result = await lists(["c", "a", "b"]);
  result.names.sort().push("d");
  await sleep(20);
  result.names.reverse();
  result.at.setTime(5);
  await echo(result.names.join());
  await sleep(20);
  return [result.names.join(), result.at.getTime()];
});

export const changesAnArgument = workflow({ name: "changes_an_argument" }, async () => {
  const order = { id: 1, lines: ["tea"] };
  const first = lists(order.lines);
  order.lines.push("milk");
  const second = lists(order.lines);
  order.lines.length = 0;
  const [a, b] = await Promise.all([first, second]);
  return [a.names, b.names, order.lines];
});

const spoils = task({ name: "spoils" }, async (list: string[], ctx) => {
  await did(ctx, `spoils ${list.join()}`);
  list.push("spoiled");
  return list;
});

export const changedByATask = workflow({ name: "changed_by_a_task" }, async () => {
  const list = ["a"];
  const first = await spoils(list);
  const second = await spoils(list);
  return [list, first, second];
});

export const changesASignal = workflow({ name: "changes_a_signal" }, async () => {
  const letter = await signal<Work>("letter");
  const done: string[] = [];
  while (letter?.items.length) {
    done.push(await echo(letter.items.shift() as string));
    await sleep(10);
  }
  return done;
});

export const changesAnAnswer = workflow({ name: "changes_an_answer" }, async () => {
  const answer = await pause<{ lines: string[] }>("ask");
  answer.lines.sort();
  await sleep(20);
  answer.lines.push(await echo(answer.lines.join()));
  await sleep(20);
  return answer.lines;
});

export const givesAList = workflow({ name: "gives_a_list" }, async () => {
  await echo("made");
  return { rows: [3, 1, 2] };
});

export const changesAChildsOutput = workflow({ name: "changes_a_childs_output" }, async () => {
  const { rows } = await call(givesAList);
  rows.sort();
  await sleep(20);
  rows.unshift(await echo(rows.length));
  await sleep(20);
  return rows;
});

export const changesAnError = workflow({ name: "changes_an_error" }, async () => {
  try {
    return await breaks(null);
  } catch (error) {
    (error as Error).message += ", noticed";
    await sleep(20);
    await echo((error as Error).message);
    return (error as Error).message;
  }
});

const breaks = task({ name: "breaks" }, async (_: unknown, ctx) => {
  await did(ctx, "breaks");
  throw new Error("broken");
});

export const changesItsLog = workflow({ name: "changes_its_log" }, async (_, ctx) => {
  await echo("one");
  const events = ctx.events as unknown as { type: string; value: unknown }[];
  const before = events.length;
  try {
    for (const event of events) event.value = "changed";
    events.length = 0;
  } catch {
    // It may not be changed at all, which is as good.
  }
  await echo("two");
  await sleep(20);
  return ctx.events.length > before;
});

export const sharedBetween = workflow({ name: "shared_between" }, async (input: Work) => {
  const take = async () => {
    const taken: string[] = [];
    for (let item = input.items.shift(); item !== undefined; item = input.items.shift()) {
      taken.push(await echo(item));
    }
    return taken.length;
  };
  const counts = await parallel([take, take, take]);
  await sleep(20);
  return [counts.reduce((sum, count) => sum + count, 0), input.items];
});

const sorts = task({ name: "sorts" }, async (map: Map<string, number[]>, ctx) => {
  await did(ctx, `sorts ${[...map.keys()].join()}`);
  for (const list of map.values()) list.sort((a, b) => a - b);
  return map;
});

export const changesAMap = workflow({ name: "changes_a_map" }, async () => {
  const own = new Map([["a", [3, 1, 2]]]);
  const sorted = await sorts(own);
  sorted.set("b", [0]);
  sorted.get("a")?.pop();
  await sleep(20);
  const again = await sorts(sorted);
  return [told(own.get("a")), told(sorted.get("a")), told([...again.keys()])];
});

export const accumulates = workflow({ name: "accumulates" }, async () => {
  const state = { seen: [] as number[], total: 0 };
  for (let i = 0; i < 5; i++) {
    const given = await echo(state);
    given.seen.push(i);
    given.total += i;
    Object.assign(state, given);
    await sleep(8);
  }
  return state;
});

export const freezesIt = workflow({ name: "freezes_it" }, async (input: Work) => {
  Object.freeze(input);
  Object.freeze(input.items);
  const result = Object.freeze(await lists(input.items));
  await sleep(20);
  return map(result.names, (name) => echo(name));
});

const ITEMS = ["a", "b", "c", "d"];
const items = { items: ITEMS };
const eachItem = ITEMS.map((item) => `echo ${item}`);

export const changing: Programs = {
  empties_its_input: {
    sees: "a loop that takes its work off its input does each of it once, and ends",
    input: items,
    output: [ITEMS, 0],
    did: eachItem,
  },
  empties_with_letters: {
    sees: "the same while signals arrive that nobody waits for",
    input: items,
    drive: async (outside) => {
      for (let i = 0; i < 5; i++) {
        await outside.untilInstant(Date.now() + 6);
        await outside.signal("go_on", i);
      }
    },
    output: ITEMS.toReversed(),
    did: eachItem.toReversed(),
  },
  changes_its_input: {
    sees: "an input that the workflow has changed is what the workflow made of it",
    input: { count: 1, tags: ["x"], nested: { n: 2 } },
    drive: async (outside) => {
      await outside.untilWaits("pause", "ask");
      await outside.resume();
    },
    output: [3, 4, false],
    did: ["echo [2,4,false]"],
  },
  changes_a_result: {
    sees: "a result that the workflow sorts and adds to stays as it made it",
    output: ["d,c,b,a", 5],
    did: ["lists c,a,b", "echo d,c,b,a"],
  },
  changes_an_argument: {
    sees: "a task gets its argument as it was when it was called",
    output: [["tea"], ["tea", "milk"], []],
    didInAnyOrder: ["lists tea", "lists tea,milk"],
  },
  changed_by_a_task: {
    sees: "what a task does to its argument is not seen by its caller",
    output: [["a"], ["a", "spoiled"], ["a", "spoiled"]],
    did: ["spoils a", "spoils a"],
  },
  changes_a_signal: {
    sees: "a signal that the workflow takes its work off is worked off once",
    drive: async (outside) => {
      await outside.signal("letter", items);
    },
    output: ITEMS,
    did: eachItem,
  },
  changes_an_answer: {
    sees: "an answer that the workflow sorts and adds to stays as it made it",
    drive: async (outside) => {
      await outside.untilWaits("pause", "ask");
      await outside.resume({ lines: ["b", "a"] });
    },
    output: ["a", "b", "a,b"],
    did: ["echo a,b"],
  },
  changes_a_childs_output: {
    sees: "the output of a child that the workflow sorts and adds to stays as it made it",
    output: [3, 1, 2, 3],
    did: ["echo made", "echo 3"],
  },
  changes_an_error: {
    sees: "an error that the workflow adds to stays as it made it",
    output: "broken, noticed",
    did: ["breaks", "echo broken, noticed"],
  },
  changes_its_log: {
    sees: "a workflow that changes what it reads of its log changes nothing of it",
    output: true,
    did: ["echo one", "echo two"],
  },
  shared_between: {
    sees: "three that take from one list do each item once",
    input: items,
    output: [4, []],
    didInAnyOrder: eachItem,
  },
  changes_a_map: {
    sees: "a map that is changed after its use stays with each as that one made it",
    output: ["[3,1,2]", "[1,2]", '["a","b"]'],
    did: ["sorts a", "sorts a,b"],
  },
  accumulates: {
    sees: "a state that is handed over and taken back grows as if it had never left",
    output: { seen: [0, 1, 2, 3, 4], total: 10 },
  },
  freezes_it: {
    sees: "a workflow that freezes what it was given disturbs nobody",
    input: items,
    output: ITEMS,
    didInAnyOrder: [`lists ${ITEMS.join()}`, ...eachItem],
  },
};
