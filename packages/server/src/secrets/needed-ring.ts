import { EngineError } from "@engine/contract";
import type { KeyRing } from "@engine/store";

/** @throws EngineError `encryption_unavailable` where no key is configured. */
export function neededRing(ring: KeyRing | undefined): KeyRing {
  if (ring) return ring;
  throw new EngineError(
    "encryption_unavailable",
    "there is no encryption key: set engine.security.encryption.key or key_file, or keys with primary, alike on every server",
  );
}
