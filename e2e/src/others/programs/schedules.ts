import type { ExecutionSummary } from "@engine/contract";
import { signal, sleep, workflow } from "@engine/sdk";
import type { Outside } from "../outside.ts";
import type { Programs } from "../program.ts";
import { echo } from "./tasks.ts";

export const plans = workflow({ name: "plans" }, () => signal("planned"));

export const planned = workflow({ name: "planned" }, async (text: string) => {
  await sleep(20);
  return echo(text);
});

/** Has a schedule start workflows until there are so many; then it is deleted. */
const untilStarted = (count: number, spec: () => unknown) => async (it: Outside) => {
  const name = `for_${it.id}`;
  const schedule = { name, workflow: "planned", spec: spec(), input: "planned", version: 1 };
  const { status, body } = await it.ask("POST", "/schedules", schedule);
  if (status !== 201) throw new Error(`no schedule: ${JSON.stringify(body)}`);
  const started = async () => {
    const found = (await it.ask("GET", `/executions?schedule=${name}`)).body;
    return (found as { readonly items: readonly ExecutionSummary[] }).items;
  };
  await it.until("it has started some", async () => (await started()).length >= count);
  await it.ask("DELETE", `/schedules/${name}`);
  for (const one of await started()) it.adopt(one.execution_id);
  await it.signal("planned", (await started()).length);
};

export const schedules: Programs = {
  plans: {
    sees: "what is planned for an instant is started once",
    drive: untilStarted(1, () => ({
      type: "once",
      at: new Date(Date.now() + 1_200).toISOString(),
    })),
    output: 1,
    did: ["echo planned"],
  },
  "plans each second": {
    workflow: "plans",
    sees: "what is planned for each second is started again and again, each time once",
    drive: untilStarted(2, () => ({ type: "interval", every_seconds: 1 })),
    right: ({ output, did }) => Number(output) >= 2 && did.length === output,
  },
};
