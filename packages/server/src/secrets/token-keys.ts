import { hkdfSync } from "node:crypto";
import type { KeyRing, RingKey } from "@engine/store";
import type { TokenKeys } from "../auth/execution-token.ts";

/** Keys that sign execution tokens and nothing else: those of the ring, under a label (AUTH-40). */
export function tokenKeysOf(ring: KeyRing): TokenKeys {
  const derived = new Map<string, Uint8Array>();
  const keyOf = ({ id, key }: RingKey): Uint8Array => {
    const known = derived.get(id) ?? derivedFrom(key);
    derived.set(id, known);
    return known;
  };
  return {
    get primary() {
      const { primary } = ring;
      return { id: primary.id, key: keyOf(primary) };
    },
    of(id) {
      const found = ring.of(id);
      return found && keyOf(found);
    },
  };
}

const LABEL = "engine execution tokens 1";

function derivedFrom(key: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", key, "", LABEL, 32));
}
