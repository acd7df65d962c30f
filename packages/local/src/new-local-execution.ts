import {
  type Encoded,
  encode,
  type NewExecution,
  UnencodableValue,
  unencodable,
} from "@engine/contract";
import type { AnyWorkflow } from "@engine/sdk";
import { definedFacts } from "@engine/sdk/node";
import type { LocalWorld } from "./local-parts.ts";

/** An execution of this process's own: pinned to no version, for no server to dispatch (EXE-15). */
export function newLocalExecution(
  workflow: AnyWorkflow,
  of: Pick<NewExecution, "input" | "trigger" | "name" | "hook" | "parent">,
  { newId, newSeed, clock }: Pick<LocalWorld, "newId" | "newSeed" | "clock">,
): NewExecution {
  return {
    ...definedFacts(workflow),
    ...of,
    execution_id: newId(),
    version: null,
    module_hash: null,
    by: null,
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
    throw error instanceof UnencodableValue ? unencodable(error) : error;
  }
}
