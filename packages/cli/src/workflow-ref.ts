import { DEFAULT_NAMESPACE, isName, NAME_RULE } from "@engine/contract";
import { InvalidArgumentError } from "commander";

/** Path parameters of a workflow's routes. */
export interface WorkflowRef {
  readonly ns: string;
  readonly wf: string;
}

/** Reads REF: `name` of namespace `default`, or `ns/name` (EXE-95). */
export function parseRef(text: string): WorkflowRef {
  const parts = text.split("/");
  const [first = "", second] = parts;
  const bad = parts.length > 2 ? text : parts.find((part) => !isName(part));
  if (bad !== undefined) {
    throw new InvalidArgumentError(`Expected NAME or NAMESPACE/NAME, each ${NAME_RULE}.`);
  }
  return second === undefined ? { ns: DEFAULT_NAMESPACE, wf: first } : { ns: first, wf: second };
}

/** The shortest REF that means this workflow. */
export function refText(ref: { readonly namespace: string; readonly name: string }): string {
  return ref.namespace === DEFAULT_NAMESPACE ? ref.name : `${ref.namespace}/${ref.name}`;
}
