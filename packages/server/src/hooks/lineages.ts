/** Which hook is behind an execution that somebody starts (HOOK-33, HOOK-34). */
import {
  claimedOrigin,
  type HookLineage,
  hookExecutionId,
  isDeliveryId,
  lineageOf,
  type NamedDelivery,
} from "@engine/contract";
import type { EnginePorts } from "../engine-ports.ts";
import { sha256 } from "./sha256.ts";

interface Parts {
  readonly ports: Pick<EnginePorts, "store">;
  /** Whether authorization is on: else an input is taken at its word. */
  readonly areChecked: boolean;
}

/** Of what of an input the answer depends. */
export const LINEAGE_PATHS: readonly string[] = ["hook", "delivery_id", "event_key", "hop"];

export class Lineages {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Of a start that is asked for by a caller who runs no execution of the engine.
   *
   * @param input Decoded; of one that is too large for that as much as {@link LINEAGE_PATHS} name.
   */
  of(input: unknown, by: string | null): HookLineage | null | Promise<HookLineage | null> {
    // Nearly every input is none, and costs no look at the store.
    const claimed = claimedOrigin(input);
    if (!claimed) return null;
    if (!this.#parts.areChecked || by === null) return lineageOf({ by: "anyone", input });
    return this.#checked(input, by, claimed.delivery_id);
  }

  async #checked(input: unknown, principal: string, id: string): Promise<HookLineage | null> {
    const delivery = await this.#named(id);
    return lineageOf({ by: "principal", principal, input, delivery });
  }

  async #named(delivery_id: string): Promise<NamedDelivery | undefined> {
    const { store } = this.#parts.ports;
    if (!isDeliveryId(delivery_id)) return undefined;
    // An input names no hook's id, and its hook's name is not to be believed: what it started knows.
    const started = await store.executions.find(hookExecutionId(delivery_id, sha256));
    if (!started?.hook?.name || started.hook.delivery_id !== delivery_id) return undefined;
    const hook = await store.hooks.find(started.hook.name);
    const found = hook && (await store.deliveries.find(hook.id, delivery_id));
    if (!found) return undefined;
    const { id, event_key, status, hop } = found;
    return { id, hook: hook.name, event_key, status, hop, ran_as: started.run_as };
  }
}
