import { expect, test } from "vitest";
import { workflow } from "../index.ts";
import {
  input,
  label,
  least,
  limit,
  load,
  require,
  routingInput,
  score,
} from "../routing/index.ts";
import { testEngine } from "./index.ts";

test("DSP-1 EXE-12 a run without a server goes by none of these options", async () => {
  const constrained = workflow(
    {
      name: "constrained",
      affinity: require(label("nobody").eq(input("absent"))),
      routing: score(least(load())),
      limits: [limit("undefined")],
      priority: -10,
      fairness: { key: routingInput("tenant") },
    },
    async () => "done",
  );
  const engine = testEngine();
  const run = await engine.run(constrained);
  expect(run).toMatchObject({ state: "COMPLETED", output: "done" });
});
