import { type KeyRing, type RingKey, ringOf } from "@engine/store";
import type { AuditedCall } from "../../auth/audit-entry.ts";

const keyOf = (id: string): RingKey => ({ id, key: Buffer.alloc(32, id) });

/** A ring of keys that are nobody's; the first one seals. */
export function testRing(primary: string, ...others: readonly string[]): KeyRing {
  return ringOf(keyOf(primary), others.map(keyOf));
}

/** A caller with authorization off. */
export const CALL: AuditedCall = {
  caller: { principal: null },
  action: "tests",
  address: undefined,
  request_id: "request",
};
