/** What each sealed thing is bound to: it opens nowhere else (SEC-2). */
import type { StoredKeyPlace } from "../stored-keys.ts";
import type { SealedPlace } from "./envelope.ts";

/** A value of a secret, while it is there and while it stays masked. */
export function secretPlace(name: string, version: number): SealedPlace {
  return { kind: "secret", name, version };
}

/** The data key of an execution. */
export function executionKeyPlace(execution_id: string): SealedPlace {
  return { kind: "execution", name: execution_id, version: 1 };
}

/** The routing input of a schedule; another one of the name has another id. */
export function routingPlace(name: string, id: string): SealedPlace {
  return { kind: "schedule", name, version: id };
}

/** The text that a key of the ring is checked by. */
export function keyCheckPlace(key_id: string): SealedPlace {
  return { kind: "key", name: key_id, version: 1 };
}

/** What a stored data key is bound to. */
export function placeOf({ of, name, version }: StoredKeyPlace): SealedPlace {
  if (of === "execution_keys") return executionKeyPlace(name);
  if (of === "schedules") return routingPlace(name, String(version));
  return secretPlace(name, Number(version));
}
