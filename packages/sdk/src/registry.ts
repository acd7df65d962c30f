/** The workflows this program has defined, shared by all copies of the package in it. */
const key = Symbol.for("engine.workflows");
const shared = globalThis as { [key]?: Map<string, unknown> };
shared[key] ??= new Map();
const workflows: Map<string, unknown> = shared[key];

export function registerWorkflow(workflow: { readonly qualifiedName: string }): void {
  workflows.set(workflow.qualifiedName, workflow);
}

/** The workflow defined last under a name: what a local run finds the target of `call` by. */
export function registeredWorkflow(qualifiedName: string): unknown {
  return workflows.get(qualifiedName);
}
