import { EngineError, type Json, notFound, referenceOf, toPlain } from "@engine/contract";
import type { EnginePorts } from "../engine-ports.ts";
import { storedValue } from "./resolve-values.ts";

/**
 * The whole value of one event as plain JSON, wherever it is kept (EXE-86).
 *
 * @throws EngineError `not_found` for an unknown execution or event, or a value that is gone;
 *   `stored_externally` for one in a storage of the workflow's own.
 */
export async function readValue(
  { store, values }: Pick<EnginePorts, "store" | "values">,
  execution_id: string,
  seq: number,
): Promise<Json> {
  if (!(await store.executions.find(execution_id))) throw notFound("execution", execution_id);
  const [logged] = await store.log.read(execution_id, { after: seq - 1, limit: 1 });
  if (logged?.event.seq !== seq) throw notFound("event", `${seq} of execution ${execution_id}`);
  const reference = referenceOf(logged.event.value);
  if (!reference) return toPlain(logged.event.value);
  const value = await storedValue(reference, values);
  if (value !== undefined) return toPlain(value);
  const { storage_type } = reference;
  throw new EngineError(
    "stored_externally",
    `the value lies in the workflow's own storage "${storage_type}"; read it there`,
    { details: { reference } },
  );
}
