import { DEFAULT_NAMESPACE, NAME_RULE, parseWorkflowName } from "@engine/contract";
import { Argument, InvalidArgumentError } from "commander";

/** Path parameters of a workflow's routes. */
export interface WorkflowRef {
  readonly ns: string;
  readonly wf: string;
}

/** Reads REF: `name` of namespace `default`, or `ns/name` (EXE-95). */
export function parseRef(text: string): WorkflowRef {
  const parsed = parseWorkflowName(text);
  if (parsed) return { ns: parsed.namespace, wf: parsed.name };
  throw new InvalidArgumentError(`Expected NAME or NAMESPACE/NAME, each ${NAME_RULE}.`);
}

/** The argument of commands about one workflow. */
export function refArgument(): Argument {
  return new Argument("<ref>", "NAME (namespace `default`) or NAMESPACE/NAME").argParser(parseRef);
}

/** The shortest REF that means this workflow. */
export function refText(ref: { readonly namespace: string; readonly name: string }): string {
  return ref.namespace === DEFAULT_NAMESPACE ? ref.name : `${ref.namespace}/${ref.name}`;
}
