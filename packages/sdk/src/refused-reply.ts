import type { EngineError, Event } from "@engine/contract";
import type { CheckpointReply } from "./replay/port.ts";

/**
 * What a copy is told when the rules refuse its checkpoint, where no wire lies in between. Undefined
 * for a refusal that is no answer to a copy but a defect.
 */
export function refusedReply({ code, details }: EngineError): CheckpointReply | undefined {
  if (code === "stale_claim") return { kind: "stale" };
  if (code !== "seq_conflict") return undefined;
  const { acknowledged, events } = details as { acknowledged: number; events: readonly Event[] };
  return { kind: "conflict", acknowledged, events };
}
