import {
  type Encoded,
  EngineError,
  encode,
  type NewExecution,
  parseDuration,
  UnencodableValue,
} from "@engine/contract";
import type { AnyWorkflow } from "@engine/sdk";
import type { LocalWorld } from "./local-parts.ts";

/** An execution of this process's own: pinned to no version, for no server to dispatch (EXE-15). */
export function newLocalExecution(
  { namespace, name, options }: AnyWorkflow,
  of: Pick<NewExecution, "input" | "trigger" | "name" | "parent">,
  { newId, newSeed, clock }: Pick<LocalWorld, "newId" | "newSeed" | "clock">,
): NewExecution {
  return {
    ...of,
    execution_id: newId(),
    namespace,
    workflow: name,
    version: null,
    module_hash: null,
    by: null,
    timeout_ms: options.timeout === undefined ? null : (parseDuration(options.timeout) ?? null),
    transient: options.durability === "transient",
    seed: newSeed(),
    now: clock(),
  };
}

/**
 * An input as the log keeps it. None is null, as an empty request body is.
 *
 * @throws EngineError `invalid_input` naming the path inside the input that has no stored form.
 */
export function encodeInput(input: unknown): Encoded {
  try {
    return encode(input === undefined ? null : input, "input");
  } catch (error) {
    if (!(error instanceof UnencodableValue)) throw error;
    const issues = [{ path: error.path, message: error.message }];
    throw new EngineError("invalid_input", error.message, { details: { issues } });
  }
}
