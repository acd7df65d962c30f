/** Routing inputs as executions keep them: sealed wherever there is a key, else as their JSON (RIN-3). */
import { EngineError, hasRoutingInput, type RoutingInput } from "@engine/contract";
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
