import { DEFAULT_NAMESPACE, type routes, SESSION_HEADER } from "@engine/contract";
import type { Look, Looks, RunList } from "@engine/http";
import type { Engine } from "../engine.ts";

/** Looks up the records without which a large body is not read at all. */
export function looks({ catalog, executions, workers }: Engine): Looks<typeof routes> {
  const workflow: Look = async ({ params, query, headers }) => {
    // The key's execution may exist, whatever became of the workflow since (EXE-84).
    if (headers["idempotency-key"] !== undefined) return;
    const { workflow_name, ns, wf = workflow_name ?? "" } = params;
    const named = workflow_name === undefined ? ns : query["namespace"];
    const namespace = typeof named === "string" ? named : DEFAULT_NAMESPACE;
    await catalog.resolve(namespace, wf, versionOf(query));
  };
  const ofWorkflow: Look = ({ params: { ns = "", wf = "", id = "" } }) =>
    executions.get(id, { namespace: ns, name: wf });
  const execution: Look = ({ params: { id = "", execution_id = id } }) =>
    executions.get(execution_id);
  const session: Look = ({ params: { name = "" }, headers }) => {
    const { [SESSION_HEADER]: secret } = headers;
    return workers.checkpoints(
      { worker: name, session: typeof secret === "string" ? secret : "" },
      [],
    );
  };
  return {
    executions: {
      run: workflow,
      runDefault: workflow,
      resume: ofWorkflow,
      resumeMode: ofWorkflow,
      signal: execution,
      fork: execution,
    },
    basic: { run: workflow, resume: execution },
    workers: { checkpoints: session, saveValue: session, cacheKeep: session, progress: session },
  };
}

/** What running a workflow takes, for a refusal; undefined where nobody knows the workflow. */
export function runListOf({ runLists }: Pick<Engine, "runLists">): RunList {
  return (workflow, query) => {
    const slash = workflow.indexOf("/");
    return runLists.ofName(workflow.slice(0, slash), workflow.slice(slash + 1), versionOf(query));
  };
}

/** Undefined for a text that is no version: it is refused later, with the rest of the query. */
function versionOf({ version }: Readonly<Record<string, unknown>>): number | undefined {
  const number = typeof version === "string" && /^\d{1,9}$/.test(version) ? Number(version) : 0;
  return number > 0 ? number : undefined;
}
