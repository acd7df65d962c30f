import { registeredWorkflow } from "./registry.ts";
import { type AnyWorkflow, isWorkflow } from "./workflow.ts";

/** A workflow this program has defined, by its qualified name: the target of a local `call`. */
export function findWorkflow(qualifiedName: string): AnyWorkflow | undefined {
  const found = registeredWorkflow(qualifiedName);
  return isWorkflow(found) ? found : undefined;
}
