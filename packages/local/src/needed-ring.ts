import { EngineError } from "@engine/contract";
import type { KeyRing } from "@engine/store";

/** @throws EngineError `encryption_unavailable` where no key is configured. */
export function neededRing(ring: KeyRing | undefined): KeyRing {
  if (ring) return ring;
  throw new EngineError(
    "encryption_unavailable",
    "secrets are kept encrypted, and this process has no key; set engine.security.encryption.key",
  );
}
