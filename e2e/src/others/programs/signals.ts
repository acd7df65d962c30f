import { parallel, signal, sleep, workflow } from "@engine/sdk";
import type { Programs } from "../program.ts";
import { echo, late } from "./tasks.ts";

export const oneLetter = workflow({ name: "one_letter" }, async () => {
  const letter = await signal("letter");
  return echo(letter);
});

export const lettersInOrder = workflow({ name: "letters_in_order" }, async () => {
  const letters: unknown[] = [];
  await sleep(300);
  for (let i = 0; i < 6; i++) letters.push(await signal("letter"));
  await echo(letters.join());
  return letters;
});

export const untilDone = workflow({ name: "until_done" }, async () => {
  const parts: string[] = [];
  for (;;) {
    const part = await signal<{ text: string; done?: boolean }>("part");
    if (!part) throw new Error("there is no timeout");
    parts.push(await echo(part.text));
    if (part.done) return parts;
  }
});

export const emptyStream = workflow({ name: "empty_stream" }, async () => {
  const parts: unknown[] = [];
  for (;;) {
    const part = await signal<{ done?: boolean }>("part");
    if (part?.done) return parts;
    parts.push(part);
  }
});

export const eachItsOwn = workflow({ name: "each_its_own" }, async () => {
  const [a, b, c] = await Promise.all([signal("a"), signal("b"), signal("c")]);
  return [a, b, c];
});

export const twoForOneName = workflow({ name: "two_for_one_name" }, async () => {
  const [older, younger] = await Promise.all([signal("ping"), signal("ping")]);
  return [older, younger];
});

export const nothingCame = workflow({ name: "nothing_came" }, async () => {
  const first = await signal("ping", { timeout: 40 });
  const second = await signal("ping", { timeout: "1100ms" });
  return [first === undefined, second === undefined, await echo("went on")];
});

export const nullIsALetter = workflow({ name: "null_is_a_letter" }, async () => {
  const first = await signal("letter", { timeout: "1h" });
  const second = await signal("letter", { timeout: "1h" });
  return [first, second, first === null, second === undefined];
});

export const lateForTheFirst = workflow({ name: "late_for_the_first" }, async () => {
  const first = await signal("ping", { timeout: 50 });
  await echo("nothing yet");
  const second = await signal("ping", { timeout: "1h" });
  return [first === undefined, second];
});

export const counter = workflow({ name: "counter" }, async () => {
  let sum = 0;
  for (;;) {
    const amount = await signal<number | "stop">("add");
    if (amount === "stop" || amount === undefined) return sum;
    sum += amount;
    await echo(sum);
  }
});

export const quorum = workflow({ name: "quorum" }, async () => {
  const votes = new Map<string, boolean>();
  while ([...votes.values()].filter(Boolean).length < 2) {
    const vote = await signal<{ who: string; yes: boolean }>("vote", { timeout: "1h" });
    if (!vote) return "nobody";
    votes.set(vote.who, vote.yes);
  }
  return Object.fromEntries(votes);
});

export const firstOfThree = workflow({ name: "first_of_three" }, async () => {
  const winner = await Promise.race(
    ["a", "b", "c"].map((name) => signal(name).then((value) => `${name} ${value}`)),
  );
  return echo(winner);
});

export const whileAtWork = workflow({ name: "while_at_work" }, async () => {
  const [work, letter] = await parallel([
    () => late({ ms: 400, value: "work" }),
    async () => echo(await signal<string>("letter")),
  ]);
  return [work, letter];
});

export const stopWord = workflow({ name: "stop_word" }, async () => {
  let isStopped = false;
  void signal("stop").then(() => {
    isStopped = true;
  });
  let rounds = 0;
  while (!isStopped && rounds < 1_000) {
    await sleep(20);
    rounds++;
  }
  await echo(isStopped);
  return rounds < 1_000;
});

export const leftOver = workflow({ name: "left_over" }, async (_, ctx) => {
  const first = await signal("letter");
  const warnings = ctx.events.filter(({ type }) => type === "WORKFLOW_WARNING");
  return [first, warnings.length];
});

export const collectsForAWhile = workflow({ name: "collects_for_a_while" }, async () => {
  const batch: unknown[] = [];
  const end = sleep(900).then(() => "end" as const);
  for (;;) {
    const next = await Promise.race([end, signal<number>("item").then((item) => ({ item }))]);
    if (next === "end") break;
    batch.push(next.item);
  }
  await echo(batch.length);
  return batch.toSorted();
});

export const latestCounts = workflow({ name: "latest_counts" }, async () => {
  // As somebody writes who wants to act once it has been quiet for a while: longer than a busy machine
  // takes to send the next one.
  let value = await signal<number>("change");
  for (;;) {
    const next = await signal<number>("change", { timeout: 5_000 });
    if (next === undefined) return echo(value);
    value = next;
  }
});

export const insideAndOut = workflow({ name: "inside_and_out" }, async () => {
  const seen: unknown[] = [];
  const listener = (async () => {
    for (let i = 0; i < 3; i++) seen.push(await signal("item"));
  })();
  for (let i = 0; i < 3; i++) await echo(`step ${i}`);
  await listener;
  return seen;
});

const ADDRESS = { to: { street: "Rua A", numbers: [1, 2, 3], note: null }, ok: true };

export const signals: Programs = {
  one_letter: {
    sees: "what is sent is what the workflow gets, however it is shaped",
    drive: async (outside) => {
      await outside.untilWaits("signal", "letter");
      await outside.signal("letter", ADDRESS);
    },
    output: ADDRESS,
    did: [`echo ${JSON.stringify(ADDRESS)}`],
  },
  letters_in_order: {
    sees: "what is sent before anybody waits is kept, and taken in the order of sending",
    drive: async (outside) => {
      for (let i = 0; i < 6; i++) await outside.signal("letter", i);
    },
    output: [0, 1, 2, 3, 4, 5],
    did: ["echo 0,1,2,3,4,5"],
  },
  until_done: {
    sees: "a stream of signals is read to the one that says it is the last",
    drive: async (outside) => {
      await outside.signal("part", { text: "one" });
      await outside.untilDid("echo one");
      await outside.signal("part", { text: "two" });
      await outside.signal("part", { text: "three", done: true });
    },
    output: ["one", "two", "three"],
    did: ["echo one", "echo two", "echo three"],
  },
  empty_stream: {
    sees: "a stream that only says that it is over gives nothing",
    drive: async (outside) => {
      await outside.signal("part", { done: true });
    },
    output: [],
  },
  each_its_own: {
    sees: "signals of several names are waited for at once, and come in whatever order",
    drive: async (outside) => {
      await outside.signal("c", 3);
      await outside.untilWaits("signal", "a");
      await outside.signal("b", 2);
      await outside.signal("a", 1);
    },
    output: [1, 2, 3],
  },
  two_for_one_name: {
    sees: "of two that wait for one name the older one gets the first signal",
    drive: async (outside) => {
      await outside.untilWaits("signal", "ping");
      await outside.signal("ping", "first");
      await outside.signal("ping", "second");
    },
    output: ["first", "second"],
  },
  nothing_came: {
    sees: "a wait with a timeout ends without a signal, a short one and a long one",
    output: [true, true, "went on"],
    did: ["echo went on"],
  },
  null_is_a_letter: {
    sees: "a signal of null is a signal and no timeout",
    drive: async (outside) => {
      await outside.untilWaits("signal", "letter");
      await outside.signal("letter", null);
      await outside.signal("letter", false);
    },
    output: [null, false, true, false],
  },
  late_for_the_first: {
    sees: "a signal that comes after a timeout is there for the next wait",
    drive: async (outside) => {
      await outside.untilDid("echo nothing yet");
      await outside.signal("ping", "here");
    },
    output: [true, "here"],
    did: ["echo nothing yet"],
  },
  counter: {
    sees: "a workflow that counts what it is sent counts all of it once",
    drive: async (outside) => {
      for (const amount of [1, 2, 3, 4]) await outside.signal("add", amount);
      await outside.untilDid("echo 10");
      await outside.signal("add", 5);
      await outside.signal("add", "stop");
    },
    output: 15,
    did: ["echo 1", "echo 3", "echo 6", "echo 10", "echo 15"],
  },
  quorum: {
    sees: "votes are gathered until there are enough, a changed one counted as changed",
    drive: async (outside) => {
      await outside.signal("vote", { who: "ada", yes: false });
      await outside.signal("vote", { who: "bob", yes: true });
      await outside.untilWaits("signal", "vote");
      await outside.signal("vote", { who: "ada", yes: true });
    },
    output: { ada: true, bob: true },
  },
  first_of_three: {
    sees: "of several names the one that is sent first decides",
    drive: async (outside) => {
      await outside.untilWaits("signal", "c");
      await outside.signal("b", "came");
    },
    output: "b came",
    did: ["echo b came"],
  },
  while_at_work: {
    sees: "a signal is taken while a task works, and begins work of its own",
    drive: async (outside) => {
      await outside.untilDid("late work");
      await outside.signal("letter", "news");
    },
    output: ["work", "news"],
    didInAnyOrder: ["late work", "echo news"],
  },
  stop_word: {
    sees: "a signal that is listened to on the side stops a loop",
    drive: async (outside) => {
      await outside.untilWaits("signal", "stop");
      await outside.signal("stop");
    },
    output: true,
    did: ["echo true"],
  },
  left_over: {
    sees: "signals that nobody takes do not keep a workflow from ending",
    drive: async (outside) => {
      await outside.signal("letter", "one");
      await outside.signal("letter", "two").catch(() => 0);
      await outside.signal("other", "three").catch(() => 0);
    },
    output: ["one", 0],
  },
  collects_for_a_while: {
    sees: "what is sent before a deadline is in the batch, each once and in its order",
    drive: async (outside) => {
      for (let i = 0; i < 8; i++) await outside.signal("item", i);
    },
    right: ({ output, did }) => {
      const items = output as readonly number[];
      return items.every((item, i) => item === i) && `${did}` === `echo ${items.length}`;
    },
  },
  latest_counts: {
    sees: "changes that follow each other closely are acted on once, with the last of them",
    drive: async (outside) => {
      for (let i = 1; i <= 5; i++) await outside.signal("change", i);
    },
    output: 5,
    did: ["echo 5"],
  },
  inside_and_out: {
    sees: "signals that arrive between tasks are all taken in their order",
    drive: async (outside) => {
      for (let i = 0; i < 3; i++) {
        await outside.untilDid(`echo step ${i}`);
        await outside.signal("item", i);
      }
    },
    output: [0, 1, 2],
    did: ["echo step 0", "echo step 1", "echo step 2"],
  },
};
