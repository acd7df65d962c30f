import {
  decode,
  type Encoded,
  engineFailure,
  envelopeText,
  type Failure,
  type Stored,
  StoredReference,
  store,
} from "@engine/contract";
import type { OutputStorage } from "../options.ts";
import { toFailure } from "./endings/failure.ts";
import type { Host } from "./port.ts";

export type RunAside = <T>(work: () => T) => T;

/** JSON null, stored. */
export const STORED_NULL = "null";

interface Keeping {
  readonly storage: "engine" | "inline" | OutputStorage | undefined;
  readonly run: RunAside;
  readonly traceOf: Host["traceOf"];
}

/** Stores a value that must fit, or says as a Failure why it cannot be kept. */
export function storeOr(
  value: unknown,
  root: string,
  of: {
    maxBytes: number;
    task_call_id: string | null;
    attempts: number;
    traceOf?: Host["traceOf"] | undefined;
  },
): { stored: Stored; failure?: undefined } | { stored?: undefined; failure: Failure } {
  const { maxBytes, traceOf, ...rest } = of;
  try {
    const stored = store(value, root);
    if (stored.text.length <= maxBytes) return { stored };
    const message = `${root} takes ${stored.text.length} bytes, more than the ${maxBytes} allowed; keep large data outside and return a reference`;
    return { failure: engineFailure("ValueTooLargeError", message, rest) };
  } catch (error) {
    return { failure: toFailure(error, { ...rest, traceOf }) };
  }
}

/**
 * What the log holds for an output (EXE-49): the value, or where the storage its owner named keeps it.
 *
 * @param id `<execution_id>/<task_call_id>`, or the execution's id for its own output.
 * @param run Runs the storage's own code, aside of the code whose output it is.
 */
export async function keepOutput(
  output: Stored,
  id: string,
  { storage, run, traceOf }: Keeping,
): Promise<{ text: string; failure?: undefined } | { failure: Failure }> {
  if (storage === undefined || storage === "engine") return { text: output.text };
  if (storage === "inline") {
    const metadata = { value: JSON.parse(output.text) };
    return { text: envelopeText({ storage_type: storage, reference_id: id, metadata }) };
  }
  try {
    // The storage gets a copy of its own, so that it cannot change what the code gets.
    const value = decode(JSON.parse(output.text) as Encoded);
    return { text: envelopeText(StoredReference.parse(await run(() => storage.store(id, value)))) };
  } catch (error) {
    return { failure: toFailure(error, { traceOf }) };
  }
}
