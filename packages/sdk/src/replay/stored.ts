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
import type { TaskOptions } from "../options.ts";
import type { Core } from "./core.ts";
import { type FailureOf, toFailure } from "./endings/failure.ts";

/** A value in its stored form, or why there is none. */
export type StoredOr =
  | { readonly stored: Stored; readonly failure?: undefined }
  | { readonly stored?: undefined; readonly failure: Failure };

export type RunAside = <T>(work: () => T) => T;

interface Keeping {
  readonly storage: TaskOptions<unknown, unknown>["outputStorage"];
  readonly run: RunAside;
}

/** A copy of JSON data, for code of the author's that may change it. */
export function copyOf<T>(json: T): T {
  return JSON.parse(JSON.stringify(json)) as T;
}

/** Stores a value that must fit, or says as a Failure why it cannot be kept. */
export function storeOr(core: Core, value: unknown, root: string, of: FailureOf = {}): StoredOr {
  const { max_value_bytes } = core.options.limits;
  const { attempts = 1, task_call_id = null, traceOf } = of;
  try {
    const stored = store(value, root);
    if (stored.text.length <= max_value_bytes) return { stored };
    const message = `${root} takes ${stored.text.length} bytes, more than the ${max_value_bytes} allowed; keep large data outside and return a reference`;
    return { failure: engineFailure("ValueTooLargeError", message, { attempts, task_call_id }) };
  } catch (error) {
    return { failure: toFailure(error, { attempts, task_call_id, traceOf }) };
  }
}

/**
 * What the log holds for an output (EXE-49): the value, or where the storage its owner named keeps it.
 *
 * @param id `<execution_id>/<task_call_id>`, or the execution's id for its own output.
 * @param run Runs the storage's own code, aside of the code whose output it is.
 */
export async function keepOutput(
  core: Core,
  output: Stored,
  id: string,
  { storage, run }: Keeping,
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
    return { failure: core.failures.from(error) };
  }
}
