import { expect, test } from "vitest";
import { sleep } from "../built-ins.ts";
import { task } from "../task.ts";
import { workflow } from "../workflow.ts";
import { testEngine } from "./index.ts";

const plain = task({ name: "plain" }, async () => 1);

test.each([0, 1, 2, 5, 6, 1_000])(
  "EXE-50 with skipTime a sleep of %d ms comes to its end",
  async (ms) => {
    const wf = workflow({ name: "w" }, async () => {
      await sleep(ms);
      await plain();
      await sleep(ms);
      return "slept";
    });
    const engine = testEngine({ skipTime: true, log: () => {} });
    const { output } = await engine.run(wf);
    expect(output).toBe("slept");
  },
);
