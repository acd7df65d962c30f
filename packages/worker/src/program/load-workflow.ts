import { createHash } from "node:crypto";
import { pathToFileURL } from "node:url";
import { declaredOptions, engineFailure, type Failure, placementText } from "@engine/contract";
import type { AnyWorkflow } from "@engine/sdk";
// Not from @engine/sdk, which replaces globals: this loads on the worker's own thread as well.
import { type ExecutionInfo, isWorkflow, traceOf } from "@engine/sdk/node";

export type WantedWorkflow = Pick<
  ExecutionInfo,
  "namespace" | "workflow" | "version" | "transient"
> & {
  /** SHA-256 of affinity and routing as they were registered; undefined: not known. */
  readonly placement?: string | null | undefined;
};

/** The workflows that a bundle exports. Rejects when its code does not load. */
export async function loadWorkflows(path: string): Promise<readonly AnyWorkflow[]> {
  const module: Record<string, unknown> = await import(pathToFileURL(path).href);
  return Object.values(module).filter((value) => isWorkflow(value));
}

/** The wanted workflow of a bundle, or why the bundle is not what was registered (EXE-69). */
export function pickWorkflow(
  workflows: readonly AnyWorkflow[],
  wanted: WantedWorkflow,
): AnyWorkflow | Failure {
  const found = workflows.find(
    ({ namespace, name }) => namespace === wanted.namespace && name === wanted.workflow,
  );
  const expected = `${wanted.namespace}/${wanted.workflow}`;
  if (found) {
    return (
      durabilityMismatch(found, wanted, expected) ??
      placementMismatch(found, wanted, expected) ??
      found
    );
  }
  if (workflows.length === 0) {
    return loadFailure(
      "missing_export",
      `the bundle of ${versioned(wanted)} exports no workflow; export the result of workflow()`,
      { expected },
    );
  }
  const names = workflows.map((workflow) => workflow.qualifiedName);
  return loadFailure(
    "definition_mismatch",
    `the bundle of ${versioned(wanted)} must export a workflow with this namespace and name; it exports ${names.join(", ")}`,
    { expected, found: names },
  );
}

/** What is recorded of an execution was decided by the registered definition (EXE-58). */
function durabilityMismatch(
  { options: { durability: found = "durable" } }: AnyWorkflow,
  wanted: WantedWorkflow,
  workflow: string,
): Failure | undefined {
  const expected = wanted.transient ? "transient" : "durable";
  if (found === expected) return undefined;
  return loadFailure(
    "definition_mismatch",
    `${versioned(wanted)} was registered with durability "${expected}", and its bundle defines it with "${found}"; register the file again`,
    { workflow, option: "durability", expected, found },
  );
}

/** Where it may run was decided by what was registered. */
function placementMismatch(
  found: AnyWorkflow,
  wanted: WantedWorkflow,
  workflow: string,
): Failure | undefined {
  if (wanted.placement === undefined || digestOf(found) === wanted.placement) return undefined;
  return loadFailure(
    "definition_mismatch",
    `${versioned(wanted)} was registered with another affinity or routing than its bundle defines; register the file again`,
    { workflow, option: "affinity, routing" },
  );
}

const digests = new WeakMap<AnyWorkflow, string | null>();

function digestOf(workflow: AnyWorkflow): string | null {
  const known = digests.get(workflow);
  if (known !== undefined) return known;
  const text = placementText(declaredOptions(workflow.options));
  const digest = text === null ? null : createHash("sha256").update(text).digest("hex");
  digests.set(workflow, digest);
  return digest;
}

/** Why a bundle's code does not load, for the log of the execution: without paths of this machine. */
export function importFailure(error: unknown, wanted: WantedWorkflow): Failure {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const about = `the bundle of ${versioned(wanted)} does not load`;
  const expected = `${wanted.namespace}/${wanted.workflow}`;
  const { code } = (error ?? {}) as { code?: unknown };
  if (code === "package_not_found") {
    return loadFailure(code, `${about}: ${(error as Error).message}`, { expected });
  }
  const reason = error instanceof SyntaxError ? "syntax_error" : "import_failed";
  const at = error instanceof Error ? traceOf(error)?.at : undefined;
  const details = { expected, ...(at !== undefined && { at }) };
  return loadFailure(reason, `${about}: ${withoutPaths(text)}`, details);
}

/** LIV-6: what ends an execution FAILED at once. */
export function loadFailure(
  reason: string,
  message: string,
  details: Record<string, unknown> = {},
): Failure {
  return engineFailure("WorkflowLoadError", message, { details: { reason, ...details } });
}

function versioned({ namespace, workflow, version }: WantedWorkflow): string {
  return `${namespace}/${workflow}${version === null ? "" : ` version ${version}`}`;
}

function withoutPaths(text: string): string {
  return text.replace(/(file:\/\/)?\/[^\s'"]*\/[^\s'"]*/g, "(a file)");
}
