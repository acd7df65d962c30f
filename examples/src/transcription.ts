import { task, workflow } from "@engine/sdk";
//#region imports
import {
  concurrency,
  input,
  label,
  least,
  meta,
  metric,
  optional,
  prefer,
  rate,
  require,
  score,
  sticky,
  utilization,
  when,
} from "@engine/sdk/routing";
//#endregion
import { z } from "zod";

const Recording = z.object({
  region: z.enum(["eu", "us"]),
  customer: z.string(),
  /** `restricted` recordings stay on machines that were approved for them. */
  tier: z.enum(["open", "restricted"]).default("open"),
  model: z.string().optional(),
});

const transcribe = task({ name: "transcribe" }, async ({ customer }: { customer: string }) => {
  return `what ${customer} said`;
});

//#region affinity
const place = require(label("region").eq(input("region")), meta("maintenance").ne("true"), optional(
  label("model").eq(input("model")),
), when(input("tier").eq("restricted"), meta("approved").eq("true")));
//#endregion

/** Writes down what was said, where the recording may be heard. */
export const transcription = workflow(
  {
    name: "transcription",
    namespace: "examples",
    input: Recording,
    affinity: place,
    //#region routing
    routing: score(
      prefer(meta("disk").eq("nvme"), { weight: 5 }),
      least(utilization(), { weight: 10 }),
      when(metric("engine.loop_lag_p95_seconds").lt(0.1), sticky({ weight: 3 })),
    ),
    //#endregion
    //#region limits
    limits: [
      concurrency(20),
      concurrency(2, { key: input("customer") }),
      rate(100, "1m", { key: input("customer") }),
    ],
    priority: 2,
    fairness: { key: input("customer") },
    //#endregion
  },
  async ({ customer }) => transcribe({ customer }),
);
