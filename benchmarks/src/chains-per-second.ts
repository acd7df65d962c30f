import { gate } from "./gate.ts";
import type { HttpClient } from "./http-client.ts";
import { submitFor } from "./submit.ts";

interface Load {
  /** One that takes how many tasks it is to run, and answers that number. */
  readonly workflow?: string;
  readonly tasks: number;
  readonly concurrency: number;
  readonly milliseconds: number;
}

/** Workflows a second, and how many they were. */
export async function chainsPerSecond(
  client: HttpClient,
  { workflow = "chain", tasks, concurrency, milliseconds }: Load,
): Promise<{ readonly perSecond: number; readonly done: number }> {
  let done = 0;
  const elapsed = await submitFor(milliseconds, concurrency, async () => {
    const { output } = await client.run(workflow, tasks);
    gate(output === tasks, () => `${workflow}(${tasks}) answered ${output}`);
    done++;
  });
  return { perSecond: done / (elapsed / 1000), done };
}
