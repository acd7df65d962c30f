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
    ...(plan.hooks.length > 0 && hooksConfig(plan, random.fork("hooks"))),
    ...(plan.accounts > 0 && {
      security: { auth: { enabled: true, cache_ttl: random.pick([0, 5, 30]) } },
    }),
  };
}

/** Where deliveries are made at once, looks around are seldom: they must not hide that nobody was woken. */
function hooksConfig({ hop_limit }: Plan, random: Random): object {
  const event_drain = random.chance(0.85);
  return {
    scheduling: { poll_interval: event_drain ? 30 : 5 },
    retention: { sweep_interval: 10 },
    hooks: {
      hop_limit,
      // A look around makes one pass, and a hook on all that happens may have left thousands.
      drain_batch_size: event_drain ? random.pick([1, 3, 20]) : 200,
      event_drain,
      backoff_base: random.pick([0.5, 2]),
      backoff_max: random.pick([4, 300]),
    },
  };
}
