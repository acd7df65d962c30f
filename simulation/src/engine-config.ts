import type { Plan } from "./plan.ts";
import type { Random } from "./random.ts";

/** Short times, so that all of them come to pass in a run, and values that are soon large. */
export function engineConfig(plan: Plan, random: Random): unknown {
  return {
    executions: { cancel_timeout: 30, inline_value_bytes: 4096, rollback_timeout: 5 },
    workers: {
      slots: plan.slots,
      runners: ["inline"],
      default_runner: "inline",
      heartbeat_interval: 4,
      silence_timeout: 12,
      claim_timeout: 5,
      drain_timeout: 8,
      cancel_grace: 5,
      checkpoint_lanes: 1 + random.below(2),
      warm_executions: random.pick([0, 1, 256]),
    },
    dispatch: { mode: plan.polls ? "poll" : "event", safety_interval: 10, batch_size: 8 },
    ...(plan.accounts > 0 && {
      security: { auth: { enabled: true, cache_ttl: random.pick([0, 5, 30]) } },
    }),
  };
}
