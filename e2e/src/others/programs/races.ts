import { call, parallel, pause, signal, sleep, workflow } from "@engine/sdk";
import type { Programs } from "../program.ts";
import { echo, fails, hangs, late } from "./tasks.ts";

export const quickestTask = workflow({ name: "quickest_task" }, () =>
  Promise.race([hangs("a"), late({ ms: 20, value: "b" }), hangs("c")]),
);

export const eitherTask = workflow({ name: "either_task" }, async () => {
  const winner = await Promise.race([echo("A"), echo("B")]);
  return [winner, await echo(`${winner} won`)];
});

export const oneAfterAnother = workflow({ name: "one_after_another" }, async () => {
  const open = new Map([0, 1, 2, 3, 4].map((i) => [i, late({ ms: 80 * i, value: i })]));
  const done: number[] = [];
  while (open.size > 0) {
    const next = await Promise.race(open.values());
    done.push(next);
    open.delete(next);
  }
  await echo(done.length);
  return done.toSorted();
});

export const anyThatSucceeds = workflow({ name: "any_that_succeeds" }, () =>
  Promise.any([fails("a"), late({ ms: 60, value: "b" }), hangs("c")]),
);

export const noneSucceeds = workflow({ name: "none_succeeds" }, async () => {
  try {
    return await Promise.any([fails("a"), fails("b")]);
  } catch (error) {
    return (error as AggregateError).errors.map((one: Error) => one.message);
  }
});

export const failureWins = workflow({ name: "failure_wins" }, async () => {
  try {
    return await Promise.race([hangs("a"), fails("b")]);
  } catch (error) {
    return (error as Error).message;
  }
});

export const settledBefore = workflow({ name: "settled_before" }, async () => [
  await Promise.race([1, 2, 3].map((n) => Promise.resolve(n))),
  await Promise.race([Promise.resolve("now"), echo("later")]),
  await Promise.race([sleep("1h"), Promise.resolve("now")]),
  await Promise.race([Promise.reject(new Error("no")), Promise.resolve(1)]).catch(
    (error: Error) => error.message,
  ),
]);

export const sleepAgainstTask = workflow({ name: "sleep_against_task" }, async () => {
  const winner = await Promise.race([sleep(40).then(() => "sleep"), hangs("task")]);
  return [winner, await echo("after")];
});

export const taskAgainstSleep = workflow({ name: "task_against_sleep" }, () =>
  Promise.race([sleep("1h").then(() => "sleep"), late({ ms: 30, value: "task" })]),
);

export const shorterSleep = workflow({ name: "shorter_sleep" }, async () => {
  const first = await Promise.race([sleep(400).then(() => "long"), sleep(20).then(() => "short")]);
  return echo(first);
});

export const signalAgainstSleep = workflow({ name: "signal_against_sleep" }, async () => {
  const bell = signal("bell").then((name) => `bell ${name}`);
  return await Promise.race([bell, sleep("1h").then(() => "sleep")]);
});

export const pauseAgainstSleep = workflow({ name: "pause_against_sleep" }, async () => {
  const answer = pause<string>("ask").then((text) => `answered ${text}`);
  const winner = await Promise.race([answer, sleep(60).then(() => "sleep")]);
  return echo(winner);
});

export const forEver = workflow({ name: "for_ever" }, () => sleep("1h"));

export const childAgainstSleep = workflow({ name: "child_against_sleep" }, async () => {
  const winner = await Promise.race([call(forEver), sleep(80).then(() => "sleep")]);
  return echo(winner);
});

export const deadline = workflow({ name: "deadline" }, async () => {
  const outcome = await Promise.race([
    (async () => {
      await echo("step one");
      await hangs("step two");
      return "finished";
    })(),
    sleep(1_200).then(() => "too late"),
  ]);
  return echo(outcome);
});

export const manyRaces = workflow({ name: "many_races" }, async () => {
  const winners: string[] = [];
  for (let i = 0; i < 8; i++) {
    const winner = await Promise.race([
      echo(`task ${i}`).then(() => "task"),
      sleep(i % 3).then(() => "sleep"),
    ]);
    winners.push(winner);
    await echo(winners.join());
  }
  return winners.join();
});

export const racesOfShared = workflow({ name: "races_of_shared" }, async () => {
  const [a, b, c] = [late({ ms: 20, value: "a" }), hangs("b"), hangs("c")];
  const both = await Promise.allSettled([Promise.race([a, b]), Promise.race([a, c])]);
  return both.map((one) => one.status === "fulfilled" && one.value);
});

export const raceOfAll = workflow({ name: "race_of_all" }, () =>
  Promise.race([
    Promise.all([echo(1), hangs("never")]),
    Promise.all([echo(2), late({ ms: 30, value: 3 })]),
  ]),
);

export const losersStop = workflow({ name: "losers_stop" }, async () => {
  const winner = await parallel([
    () => Promise.race([hangs("one"), echo("quick")]),
    () => Promise.race([echo("quicker"), hangs("two")]),
  ]);
  return winner;
});

export const loserBeginsNothing = workflow({ name: "loser_begins_nothing" }, () =>
  Promise.race([
    sleep(1).then(() => "first"),
    sleep(400).then(() => {
      void sleep(0);
      return "second";
    }),
  ]),
);

/** Winners of two that are equal: whoever it is, all that follows says the same. */
const isConsistent = (output: unknown, notes: readonly string[]): boolean => {
  const [winner, told] = output as readonly [string, string];
  return told === `${winner} won` && notes.includes(`echo ${winner} won`);
};

export const races: Programs = {
  quickest_task: {
    sees: "of several tasks the one that ends first is waited for, and the others are given up",
    output: "b",
  },
  either_task: {
    sees: "whichever of two equal tasks wins, everything after it is told the same winner",
    right: ({ output, did }) => isConsistent(output, did),
  },
  one_after_another: {
    sees: "taking the next that is done, until all are, gets each once",
    output: [0, 1, 2, 3, 4],
    didInAnyOrder: [...[0, 1, 2, 3, 4].map((i) => `late ${i}`), "echo 5"],
  },
  any_that_succeeds: {
    sees: "of several tasks the first that succeeds is waited for, whoever has failed before",
    output: "b",
  },
  none_succeeds: {
    sees: "when none of several tasks succeeds, all errors are caught together",
    output: ["a", "b"],
    didInAnyOrder: ["fails a", "fails b"],
  },
  failure_wins: {
    sees: "a task that fails first decides the race",
    output: "b",
  },
  settled_before: {
    sees: "what is settled already wins against what is still to be done",
    output: [1, "now", "now", "no"],
  },
  sleep_against_task: {
    sees: "a sleep ends the wait for a task that never ends",
    output: ["sleep", "after"],
  },
  task_against_sleep: {
    sees: "a task that ends first leaves a sleep of an hour behind",
    output: "task",
    did: ["late task"],
  },
  shorter_sleep: {
    sees: "of two sleeps the shorter one ends first",
    output: "short",
    did: ["echo short"],
  },
  signal_against_sleep: {
    sees: "a signal ends the wait before the sleep beside it does",
    drive: async (outside) => {
      await outside.untilWaits("signal", "bell");
      await outside.signal("bell", "rings");
    },
    output: "bell rings",
  },
  pause_against_sleep: {
    sees: "a sleep ends the wait for an answer that does not come",
    output: "sleep",
    did: ["echo sleep"],
  },
  child_against_sleep: {
    sees: "a sleep ends the wait for a child, which is ended with its parent",
    output: "sleep",
    did: ["echo sleep"],
  },
  deadline: {
    sees: "a deadline of the author's own ends the wait for work that takes too long",
    right: ({ output, did }) => output === "too late" && did.includes("echo too late"),
  },
  many_races: {
    sees: "whoever wins a race against a sleep of next to nothing, nobody is told of another winner",
    right: ({ output, did }) => {
      const winners = String(output).split(",");
      const told = did.filter((note) => !note.startsWith("echo task "));
      return told.join("|") === winners.map((_, i) => `echo ${winners.slice(0, i + 1)}`).join("|");
    },
  },
  races_of_shared: {
    sees: "a task in two races wins both",
    output: ["a", "a"],
  },
  race_of_all: {
    sees: "of two groups the one that is complete first wins",
    output: [2, 3],
  },
  losers_stop: {
    sees: "losers of races within branches do not keep the branches from ending",
    output: ["quick", "quicker"],
  },
  loser_begins_nothing: {
    sees: "what a loser would have begun later is never begun",
    output: "first",
  },
};
