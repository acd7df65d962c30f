/** Which hook is behind an execution, and how far along a chain of hooks its events are (HOOK-33, HOOK-34). */
import { isDeliveryId } from "./hook-ids.ts";
import { HOOK_NAME_PATTERN } from "./hook-name.ts";

/** The hook behind an execution; fixed when it is created. */
export interface HookLineage {
  /** Null where an input names none. */
  readonly name: string | null;
  /** Null where an input names none that a delivery or a test has. */
  readonly delivery_id: string | null;
  /** How many hooks fired before this one, from 0. */
  readonly hop: number;
}

/** What an input in the shape of an envelope says of itself; anybody may have written it. */
export interface ClaimedOrigin {
  readonly hook: unknown;
  readonly delivery_id: string;
  readonly event_key: string;
  readonly hop: number;
}

/** The delivery that an input names, as the database has it. */
export interface NamedDelivery {
  readonly id: string;
  readonly hook: string;
  readonly event_key: string;
  readonly status: string;
  readonly hop: number;
  /** `run_as` of the execution that it started. */
  readonly ran_as: string | null;
}

/** What creates an execution, with what its lineage depends on. */
export type HookStart =
  | { readonly by: "drain"; readonly delivery: Pick<NamedDelivery, "id" | "hook" | "hop"> }
  | { readonly by: "test"; readonly hook: string; readonly delivery_id: string }
  /** `call()`, a route called with an execution token, a restart, a fork. */
  | { readonly by: "execution"; readonly lineage: HookLineage | null }
  /** With authorization off. */
  | { readonly by: "anyone"; readonly input: unknown }
  /** With authorization on; `delivery` is the one that {@link claimedOrigin} of the input names, if any is there. */
  | {
      readonly by: "principal";
      readonly principal: string;
      readonly input: unknown;
      readonly delivery: NamedDelivery | undefined;
    };

/** The lineage of an execution that is created; null: no hook is behind it. */
export function lineageOf(start: HookStart): HookLineage | null {
  switch (start.by) {
    case "drain":
      return lineageBy(start.delivery);
    case "test":
      return { name: start.hook, delivery_id: start.delivery_id, hop: 0 };
    case "execution":
      return start.lineage;
    case "anyone": {
      const claimed = claimedOrigin(start.input);
      return claimed ? believed(claimed) : null;
    }
    case "principal": {
      const { principal, input, delivery } = start;
      return delivery && isHandedOn(input, delivery, principal) ? lineageBy(delivery) : null;
    }
  }
}

/** The hop of deliveries of an execution's events; at `hop_limit` nothing is started any more. */
export function hopAfter(lineage: Pick<HookLineage, "hop"> | null): number {
  return lineage ? lineage.hop + 1 : 0;
}

/**
 * What an input says of the delivery it comes from: undefined unless it has the whole shape, a text
 * `delivery_id`, a text `event_key` and a whole `hop`.
 *
 * @param input Decoded.
 */
export function claimedOrigin(input: unknown): ClaimedOrigin | undefined {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return undefined;
  const { hook, delivery_id, event_key, hop }: Record<string, unknown> = { ...input };
  if (typeof delivery_id !== "string" || typeof event_key !== "string") return undefined;
  if (typeof hop !== "number" || !Number.isInteger(hop)) return undefined;
  return { hook, delivery_id, event_key, hop };
}

function lineageBy({ hook, id, hop }: Pick<NamedDelivery, "id" | "hook" | "hop">): HookLineage {
  return { name: hook, delivery_id: id, hop };
}

/** Above every `hop_limit`; a number of any size would not fit its column. */
const HIGHEST_HOP = 1_000;

/** Ids of tests (HOOK-37). */
const TEST_ID = /^hook-test-[0-9a-f]{32}$/;

/** Without authorization an input is taken at its word, as far as it could be true. */
function believed({ hook, delivery_id, hop }: ClaimedOrigin): HookLineage {
  const isId = isDeliveryId(delivery_id) || TEST_ID.test(delivery_id);
  return {
    name: typeof hook === "string" && HOOK_NAME_PATTERN.test(hook) ? hook : null,
    delivery_id: isId ? delivery_id : null,
    hop: hop > 0 ? Math.min(hop, HIGHEST_HOP) : 0,
  };
}

/**
 * Whether a target hands on the envelope that it was started with. Any other input is ordinary: nobody
 * silences hooks of others by the input they choose.
 */
function isHandedOn(input: unknown, delivery: NamedDelivery, principal: string): boolean {
  const claimed = claimedOrigin(input);
  return (
    claimed !== undefined &&
    claimed.delivery_id === delivery.id &&
    claimed.event_key === delivery.event_key &&
    delivery.status === "delivered" &&
    delivery.ran_as === principal
  );
}
