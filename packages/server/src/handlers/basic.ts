import { type ExecutionRow, recordForCaller, type routes } from "@engine/contract";
import { answer, type Handlers } from "@engine/http";
import type { Engine } from "../engine.ts";
import { toBasic, toInspected } from "../executions/record.ts";
import { runAnswer, waitMs } from "./run-answer.ts";
import { REPLAYED, startHeaders } from "./start-headers.ts";
import { workflowOf } from "./subjects.ts";

/** The basic API (EXE-89). @param syncTimeoutSeconds Longest wait of a sync call; 0 = none. */
export function basicHandlers(
  { executions }: Engine,
  syncTimeoutSeconds: number,
): Handlers<typeof routes.basic> {
  return {
    run: async ({ params, query, headers, body: input }, { signal, caller, permit }) => {
      permit.demand({ namespace: query.namespace });
      const { namespace, version, timeout, inspect } = query;
      const request = {
        namespace,
        workflow: params.workflow_name,
        version,
        input,
        trigger: { kind: "api" as const },
        by: caller.principal,
        ...startHeaders(headers),
      };
      const timeoutMs = waitMs(timeout, syncTimeoutSeconds);
      if (request.idempotency_key === undefined) {
        return basicAnswer(await executions.startAndWait(request, { timeoutMs, signal }), inspect);
      }
      const { row, existing } = await executions.start(request);
      const settled = await executions.wait(row.execution_id, { timeoutMs, signal });
      const answered = await basicAnswer(settled, inspect);
      return existing ? { ...answered, headers: { ...answered.headers, ...REPLAYED } } : answered;
    },
    resume: async ({ params, query, body: input }, { signal, caller, permit }) => {
      permit.demand({ namespace: query.namespace });
      const { namespace, pause, timeout, inspect } = query;
      const { execution_id, workflow_name } = params;
      const workflow = { namespace, name: workflow_name };
      const request = { workflow, execution_id, input, pause, by: caller.principal };
      const timeoutMs = waitMs(timeout, syncTimeoutSeconds);
      return basicAnswer(await executions.resumeAndWait(request, { timeoutMs, signal }), inspect);
    },
    inspect: async ({ params: { execution_id } }, { permit }) => {
      const row = await executions.get(execution_id);
      permit.demand(workflowOf(row));
      return answer(200, await inspected(row));
    },
  };

  async function basicAnswer(row: ExecutionRow, inspect: boolean | undefined) {
    if (inspect) return runAnswer(row, recordForCaller(await inspected(row)));
    return runAnswer(row, toBasic(await executions.shown(row)));
  }

  async function inspected(row: ExecutionRow) {
    const [shown, log] = await Promise.all([executions.shown(row), executions.logUpTo(row)]);
    return toInspected(shown, log);
  }
}
