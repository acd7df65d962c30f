import {
  type DeliveryGuard,
  EngineError,
  encode,
  hookExecutionId,
  lineageOf,
} from "@engine/contract";
import type { Changed, DueDelivery, Undelivered } from "@engine/store";
import type { EnginePorts } from "../engine-ports.ts";
import { foundVersion } from "../starts/found-version.ts";
import type { Starts } from "../starts/starts.ts";
import { afterFailure, judgeDelivery, type Try } from "./delivery-rules.ts";
import { sha256 } from "./sha256.ts";
import type { TargetJudge } from "./target-judge.ts";

interface Parts {
  readonly ports: Pick<EnginePorts, "store" | "clock" | "config" | "log">;
  readonly starts: Pick<Starts, "start">;
  readonly judge: Pick<TargetJudge, "forDelivery">;
}

/**
 * What became of a row. `gone`: its hook is. `stale`: it is not as it was judged any more, so that nothing
 * was written. `deferred`: it is tried again later.
 */
export type Outcome = "delivered" | "dead" | "deferred" | "gone" | "stale";

/** Settles one delivery by itself: what is wrong with it is nobody else's matter (HOOK-28). */
export class DeliveryTries {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Rejects when not even what became of it could be written: then the row is as before (HOOK-31). */
  async settle(delivery: DueDelivery): Promise<Outcome> {
    const { ports } = this.#parts;
    const judged = judgeDelivery(delivery, ports.config.hooks);
    switch (judged.kind) {
      case "orphan":
        await ports.store.deliveries.forget(delivery);
        return "gone";
      case "dead":
        return this.#fail(delivery, judged.guard, judged.undelivered);
      case "try":
        return this.#attempt(delivery, judged.try);
    }
  }

  async #attempt(delivery: DueDelivery, of: Try): Promise<Outcome> {
    const { ports } = this.#parts;
    let changed: Changed;
    try {
      changed = await this.#start(delivery, of);
    } catch (error) {
      const { config, clock } = ports;
      const undelivered = afterFailure(of, error, { ...config.hooks, now: clock() });
      if (!(error instanceof EngineError)) {
        const fields = { err: error, hook: delivery.hook, delivery: delivery.id };
        ports.log.error(fields, "the target of a hook could not be started");
      }
      return this.#fail(delivery, of.guard, undelivered);
    }
    if (changed.undelivered) return "stale";
    const { execution_id } = changed.row;
    ports.log.debug(
      { delivery: delivery.id, event: delivery.event_key, execution: execution_id },
      "a hook has started its target",
    );
    return "delivered";
  }

  async #start(delivery: DueDelivery, { guard, hook, envelope }: Try): Promise<Changed> {
    const { target, problem } = await this.#parts.judge.forDelivery(hook);
    if (problem) throw problem;
    return this.#parts.starts.start({
      of: foundVersion(target.version),
      trigger: { kind: "hook", id: hook.name },
      by: target.run_as,
      input: encode(envelope, "envelope"),
      root: "envelope",
      // The same whoever tries it: a second start finds the first.
      execution_id: hookExecutionId(delivery.id, sha256),
      hook: lineageOf({ by: "drain", delivery }),
      delivery: guard,
    });
  }

  async #fail(
    delivery: DueDelivery,
    guard: DeliveryGuard,
    undelivered: Undelivered,
  ): Promise<Outcome> {
    const { store, log } = this.#parts.ports;
    if (!(await store.deliveries.fail(guard, undelivered))) return "stale";
    const { dead_reason, next_attempt_at } = undelivered;
    const fields = { hook: delivery.hook, delivery: delivery.id };
    if (dead_reason === null) {
      log.debug({ ...fields, next_attempt_at }, "a delivery has failed and is tried again");
      return "deferred";
    }
    log.warn({ ...fields, reason: dead_reason }, "a delivery of a hook is dead");
    return "dead";
  }
}
