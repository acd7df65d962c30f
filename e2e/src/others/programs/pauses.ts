import type { ExecutionRecord } from "@engine/contract";
import { parallel, pause, signal, sleep, workflow } from "@engine/sdk";
import type { Programs } from "../program.ts";
import { echo, late } from "./tasks.ts";

export const asksOnce = workflow({ name: "asks_once" }, async () => {
  await echo("before");
  const answer = await pause<{ ok: boolean }>("review", { output: { draft: 1 } });
  return answer.ok ? echo("after") : null;
});

export const asksThrice = workflow({ name: "asks_thrice" }, async () => {
  const answers: unknown[] = [];
  for (const name of ["one", "two", "three"]) answers.push(await pause(name, { output: name }));
  return answers;
});

export const asksTheSame = workflow({ name: "asks_the_same" }, async () => {
  for (let tries = 1; ; tries++) {
    const guess = await pause<number>("guess");
    if (guess === 7) return tries;
    await echo(`${guess} is wrong`);
  }
});

export const asksTwoAtOnce = workflow({ name: "asks_two_at_once" }, () =>
  parallel([() => pause("left"), () => pause("right")]),
);

export const answeredByNothing = workflow({ name: "answered_by_nothing" }, async () => {
  const first = await pause("first");
  const second = await pause("second");
  return [first === null, second === null];
});

export const nobodyAnswers = workflow({ name: "nobody_answers" }, async () => {
  const after = await pause("after", { after: 60 });
  const past = await pause("past", { until: new Date(Date.now() - 1) });
  const until = await pause("until", { until: new Date(Date.now() + 1_200) });
  return [after === undefined, past === undefined, until === undefined];
});

export const refusesAPause = workflow({ name: "refuses_a_pause" }, async () => {
  const tell = (error: Error) => error.name;
  const both = await pause("both", { after: "1h", until: new Date() } as object).catch(tell);
  const unnamed = await pause("").catch(tell);
  const odd = await pause("odd", { afer: "1h" } as object).catch(tell);
  const answer = await pause("fine");
  return [both, unnamed, odd, answer];
});

export const pausesAtWork = workflow({ name: "pauses_at_work" }, async () => {
  const [answer, work] = await parallel([
    () => pause<string>("ask"),
    () => late({ ms: 250, value: "work" }),
  ]);
  return echo(`${answer} and ${work}`);
});

export const pauseThenSignal = workflow({ name: "pause_then_signal" }, async () => {
  const answer = await pause<string>("ask");
  const letter = await signal<string>("letter");
  return [answer, letter];
});

export const lookedAt = workflow({ name: "looked_at" }, async () => {
  await sleep(20);
  return pause("shown", { output: { text: "look", list: [1, null, "two"] } });
});

export const pauses: Programs = {
  asks_once: {
    sees: "a workflow that asks goes on with the answer, and repeats nothing",
    drive: async (outside) => {
      await outside.untilWaits("pause", "review");
      await outside.resume({ ok: true });
    },
    output: "after",
    did: ["echo before", "echo after"],
  },
  asks_thrice: {
    sees: "questions in turn each get the answer that was given to them",
    drive: async (outside) => {
      for (const name of ["one", "two", "three"]) {
        await outside.untilWaits("pause", name);
        await outside.resume(`answer to ${name}`);
      }
    },
    output: ["answer to one", "answer to two", "answer to three"],
  },
  asks_the_same: {
    sees: "a question that is asked again waits for an answer of its own",
    drive: async (outside) => {
      for (const guess of [1, 2, 7]) {
        // The list of waits may still show the question that was answered before.
        const isTaken = async () => (await outside.resume(guess)) === 202;
        await outside.until(`${guess} is taken for an answer`, isTaken);
        if (guess !== 7) await outside.untilDid(`echo ${guess} is wrong`);
      }
    },
    output: 3,
    did: ["echo 1 is wrong", "echo 2 is wrong"],
  },
  asks_two_at_once: {
    sees: "of two open questions the one that is named is answered",
    drive: async (outside) => {
      await outside.untilWaits("pause", "left");
      await outside.untilWaits("pause", "right");
      const unnamed = await outside.resume("which?");
      if (unnamed !== 409) throw new Error(`an answer to nobody was ${unnamed}`);
      await outside.resume("r", "right");
      await outside.resume("l", "left");
    },
    output: ["l", "r"],
  },
  answered_by_nothing: {
    sees: "an answer without content, or of null, is an answer",
    drive: async (outside) => {
      await outside.untilWaits("pause", "first");
      await outside.resume();
      await outside.untilWaits("pause", "second");
      await outside.resume(null);
    },
    output: [true, true],
  },
  nobody_answers: {
    sees: "questions with a time are over without an answer when it has come, or has passed already",
    output: [true, true, true],
  },
  refuses_a_pause: {
    sees: "a question that is put wrongly is refused, and a later one is asked",
    drive: async (outside) => {
      await outside.untilWaits("pause", "fine");
      await outside.resume("answer");
    },
    output: ["TypeError", "TypeError", "TypeError", "answer"],
  },
  pauses_at_work: {
    sees: "a question may be answered while a task works",
    drive: async (outside) => {
      await outside.untilWaits("pause", "ask");
      await outside.resume("answer");
    },
    output: "answer and work",
    didInAnyOrder: ["late work", "echo answer and work"],
  },
  pause_then_signal: {
    sees: "a signal that arrives while a question is open changes nothing about the question",
    drive: async (outside) => {
      await outside.untilWaits("pause", "ask");
      await outside.signal("letter", "kept");
      await outside.untilWaits("pause", "ask");
      await outside.resume("answer");
    },
    output: ["answer", "kept"],
  },
  looked_at: {
    sees: "whoever is to answer sees what the question shows, and that it is open",
    drive: async (outside) => {
      await outside.untilWaits("pause", "shown");
      await outside.untilState("PAUSED");
      const { body } = await outside.ask("GET", `/executions/${outside.id}`);
      const { name, value } = (body as ExecutionRecord).pause ?? {};
      await outside.resume(`${name}: ${JSON.stringify(value)}`);
    },
    output: 'shown: {"text":"look","list":[1,null,"two"]}',
  },
};
