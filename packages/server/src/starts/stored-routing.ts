/** Routing inputs as executions keep them: sealed wherever there is a key, else as their JSON (RIN-3). */
import {
  EngineError,
  type HiddenPlacement,
  hasRoutingInput,
  type Placement,
  type RoutingInput,
} from "@engine/contract";
import { type KeyRing, keyIdOf, openAlike, sealAlike } from "@engine/store";

export function storedRouting(
  ring: KeyRing | undefined,
  routing_input: RoutingInput | undefined,
): string | null {
  if (!hasRoutingInput(routing_input)) return null;
  const text = JSON.stringify(routing_input);
  return ring ? sealAlike(ring, text) : text;
}

/** @throws EngineError `encryption_unavailable` for one that does not open. */
export function readRouting(
  ring: KeyRing | undefined,
  stored: string | null,
): RoutingInput | undefined {
  if (stored === null) return undefined;
  if (keyIdOf(stored) === undefined) return JSON.parse(stored);
  if (ring) return JSON.parse(openAlike(ring, stored));
  const message =
    "a routing input is sealed, and this process has no key; set engine.security.encryption";
  throw new EngineError("encryption_unavailable", message);
}

/** Terms that read routing input, as requirements keep them. */
export function hiddenPlacement(ring: KeyRing | undefined, placement: Placement): HiddenPlacement {
  return ring ? { sealed: sealAlike(ring, JSON.stringify(placement)) } : { plain: placement };
}

/** @throws EngineError `encryption_unavailable` for one that does not open. */
export function openPlacement(ring: KeyRing | undefined, hidden: HiddenPlacement): Placement {
  if ("plain" in hidden) return hidden.plain;
  if (ring) return JSON.parse(openAlike(ring, hidden.sealed));
  const message =
    "terms of a routing input are sealed, and this process has no key; set engine.security.encryption";
  throw new EngineError("encryption_unavailable", message);
}
