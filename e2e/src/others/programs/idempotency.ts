import { pause, signal, workflow } from "@engine/sdk";
import type { Programs } from "../program.ts";
import { echo } from "./tasks.ts";

export const keyed = workflow({ name: "keyed" }, async (value: unknown) => echo(value));

export const keyedThatStarts = workflow({ name: "keyed_that_starts" }, () => signal("end"));

export const answeredTwice = workflow({ name: "answered_twice" }, async () => {
  const first = await pause<string>("ask");
  return echo(first);
});

export const heardTwice = workflow({ name: "heard_twice" }, async () => [
  await signal("letter"),
  await signal("letter"),
]);

export const idempotency: Programs = {
  keyed: {
    sees: "a start that is repeated under one key starts nothing more, also when it has ended",
    input: "first",
    drive: async (it) => {
      const key = `again ${it.id}`;
      const one = await it.start("keyed", "second", { key });
      const two = await it.start("keyed", "second", { key });
      await it.untilEnded(one);
      const three = await it.start("keyed", "second", { key });
      if (one !== two || two !== three) throw new Error(`${one}, ${two}, ${three}`);
    },
    output: "first",
    didInAnyOrder: ["echo first", "echo second"],
  },
  "keyed at once": {
    workflow: "keyed",
    sees: "of many starts at once under one key one starts something",
    input: "first",
    drive: async (it) => {
      const key = `at once ${it.id}`;
      const all = await Promise.all(
        Array.from({ length: 10 }, () => it.start("keyed", "second", { key })),
      );
      if (new Set(all).size !== 1) throw new Error(all.join());
    },
    output: "first",
    didInAnyOrder: ["echo first", "echo second"],
  },
  "keyed otherwise": {
    workflow: "keyed",
    sees: "a key that was used for something else is refused",
    input: "first",
    drive: async (it) => {
      const key = `other ${it.id}`;
      await it.start("keyed", "second", { key });
      const refused = await it.start("keyed", "third", { key }).catch(String);
      if (!refused.includes("idempotency_mismatch")) throw new Error(refused);
    },
    output: "first",
    didInAnyOrder: ["echo first", "echo second"],
  },
  answered_twice: {
    sees: "of two answers at once one counts, and the other is told that it came too late",
    drive: async (it) => {
      await it.untilWaits("pause", "ask");
      const both = await Promise.all([it.resume("left"), it.resume("right")]);
      if (both.toSorted().join() !== "202,409") throw new Error(both.join());
    },
    right: ({ output, did }) => did.length === 1 && did[0] === `echo ${output}`,
  },
  heard_twice: {
    sees: "a signal that is sent twice arrives twice",
    drive: async (it) => {
      await it.signal("letter", "same");
      await it.signal("letter", "same");
    },
    output: ["same", "same"],
  },
};
