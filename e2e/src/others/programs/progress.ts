import { map, progress, signal, task, workflow } from "@engine/sdk";
import { did } from "../did.ts";
import type { Frame, Outside } from "../outside.ts";
import type { Programs } from "../program.ts";

const counts = task({ name: "counts" }, async (to: number, ctx) => {
  await did(ctx, `counts to ${to}`);
  for (let i = 1; i <= to; i++) {
    progress({ to, done: i });
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return to;
});

export const tellsHowFar = workflow({ name: "tells_how_far" }, async () => {
  await signal("go");
  return counts(5);
});

export const tellsOfSeveral = workflow({ name: "tells_of_several" }, async () => {
  await signal("go");
  return map([3, 4], (to) => counts(to));
});

export const tellsNobody = workflow({ name: "tells_nobody" }, async () => {
  // Values of any kind, also in the workflow itself, where they are nobody's.
  progress(undefined);
  const result = await counts(2);
  progress({ callback: () => 1 });
  progress("x".repeat(100_000));
  return result;
});

export const tellsItsStates = workflow({ name: "tells_its_states" }, async () => {
  await signal("go");
  return "gone";
});

interface Done {
  readonly to: number;
  readonly done: number;
}

/** Whether what was told of a task, and told again where it was run again, came in its order. */
function isInOrder(frames: readonly Frame[], to: number): boolean {
  const told = frames
    .filter(({ event }) => event === "task.progress")
    .map(({ data }) => data["value"] as Done)
    .filter((value) => value.to === to)
    .map(({ done }) => done);
  const isNext = told.every((done, i) => done === 1 || done === (told[i - 1] ?? 0) + 1);
  return isNext && told.at(-1) === to;
}

const watched = (isRight: (frames: readonly Frame[]) => boolean) => async (it: Outside) => {
  const frames = await it.follow(() => it.signal("go"));
  const states = frames.map(({ event }) => event).filter((event) => event.includes("execution"));
  if (!states.at(-1)?.endsWith(".completed")) throw new Error(`the stream ended with ${states}`);
  if (!isRight(frames)) throw new Error(`the stream was ${JSON.stringify(frames).slice(0, 2_000)}`);
};

export const progresses: Programs = {
  tells_how_far: {
    sees: "whoever watches sees what a task tells of its progress, in its order, and then the end",
    drive: watched((frames) => isInOrder(frames, 5)),
    output: 5,
    did: ["counts to 5"],
  },
  tells_of_several: {
    sees: "of several tasks at once each tells its progress in its order",
    drive: watched((frames) => isInOrder(frames, 3) && isInOrder(frames, 4)),
    output: [3, 4],
    didInAnyOrder: ["counts to 3", "counts to 4"],
  },
  tells_nobody: {
    sees: "progress that nobody watches, or that cannot be told, disturbs nothing",
    output: 2,
    did: ["counts to 2"],
  },
  tells_its_states: {
    sees: "whoever watches sees each state of the workflow once, and its end last",
    drive: watched((frames) => {
      const ids = frames.map(({ data }) => JSON.stringify([data["state"], data["updated_at"]]));
      return new Set(ids).size === ids.length;
    }),
    output: "gone",
  },
};
