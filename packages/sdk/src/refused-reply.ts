import type { EngineError, Event } from "@engine/contract";
import type { CheckpointReply } from "./replay/port.ts";

/**
 * The reply to a copy whose checkpoint the rules refuse, in engines without a wire. Undefined for a
 * refusal that says nothing to the copy but shows a defect.
 */
export function refusedReply({ code, details }: EngineError): CheckpointReply | undefined {
  if (code === "stale_claim") return { kind: "stale" };
  if (code !== "seq_conflict") return undefined;
  const { acknowledged, events } = details as { acknowledged: number; events: readonly Event[] };
  return { kind: "conflict", acknowledged, events };
}
