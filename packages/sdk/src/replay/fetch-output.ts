import { decode, type Encoded, EngineError, referenceOf, storageOf } from "@engine/contract";
import type { Call } from "./calls/call.ts";
import type { TaskServices } from "./port.ts";

/** The output of a recorded call that the log has elsewhere (EXE-49). */
export async function fetchOutput(
  call: Call,
  value: Encoded,
  services: Pick<TaskServices, "loadValue">,
): Promise<unknown> {
  const reference = referenceOf(value);
  if (!reference) return decode(value);
  const storage = storageOf(reference);
  if (storage === "inline") return decode(reference.metadata["value"] as Encoded);
  if (storage === "engine") {
    return decode(JSON.parse(await services.loadValue(reference)) as Encoded);
  }
  if (call.retrieve) return call.retrieve(reference);
  // A child that was called by name: its storage is not known here, its reference is.
  if (call.kind === "call") return reference;
  const message = `${call.id} was kept in a storage "${reference.storage_type}" that its outputStorage no longer names`;
  throw new EngineError("not_found", message);
}
