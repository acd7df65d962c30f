import { task, workflow } from "@engine/sdk";
import { concurrency, input, metaFor, rate, require } from "@engine/sdk/routing";

export interface Job {
  readonly key: string;
}

/**
 * Waits until a worker has metadata of its own key, then says when its body began, by a clock that all
 * processes of the machine share. Only for measuring: a body that reads a clock of its own would diverge.
 */
export const routed = workflow(
  {
    name: "routed",
    namespace: "bench",
    affinity: require(metaFor("job.", input("key")).eq("yes")),
  },
  (_: Job): Promise<number> => Promise.resolve(Number(process.hrtime.bigint()) / 1e6),
);

const step = task({ name: "step" }, (n: number) => n + 1);

async function steps(tasks: number): Promise<number> {
  let n = 0;
  while (n < tasks) n = await step(n);
  return n;
}

export const unlimited = workflow({ name: "unlimited", namespace: "bench" }, (tasks: number) =>
  steps(tasks),
);

/** The same with limits that have room for everything. */
export const limited = workflow(
  {
    name: "limited",
    namespace: "bench",
    limits: [concurrency(100_000), rate(100_000, "1s")],
  },
  (tasks: number) => steps(tasks),
);
