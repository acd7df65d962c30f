import { type ExecutionRow, type Parsed, recordForCaller, type routes } from "@engine/contract";
import { answer, type Call, type Handlers } from "@engine/http";
import type { Engine } from "../engine.ts";
import { toBasic, toInspected } from "../executions/record.ts";
import { resume, run } from "../executions/run-modes.ts";
import { askerOf, forCallers } from "./run-answer.ts";
import { startRequest } from "./start-request.ts";
import { workflowOf } from "./subjects.ts";

/** `inspect`: the answer has all that is known, in place of input and output. */
type Told = Pick<Parsed<typeof routes.basic.run>["query"], "timeout" | "inspect">;

/** The basic API (EXE-89). @param syncTimeoutSeconds Longest wait of a sync call; 0 = none. */
export function basicHandlers(
  { executions, runLists }: Engine,
  syncTimeoutSeconds: number,
): Handlers<typeof routes.basic> {
  return {
    run: async ({ params, query, headers, body: input }, call) => {
      const { namespace, version } = query;
      const workflow = params.workflow_name;
      await call.permit.demandToRun({ namespace }, () =>
        runLists.ofName(namespace, workflow, version),
      );
      const asked = { namespace, workflow, version, input };
      return run(executions, startRequest(asked, headers, call), askedOf(query, call));
    },
    resume: async ({ params, query, body: input }, call) => {
      const { namespace, pause } = query;
      const { execution_id, workflow_name } = params;
      const workflow = { namespace, name: workflow_name };
      await call.permit.demandToRun({ namespace }, async () =>
        runLists.ofExecution(await executions.get(execution_id, workflow)),
      );
      const request = { workflow, execution_id, input, pause, by: call.caller.principal };
      return resume(executions, request, askedOf(query, call));
    },
    inspect: async ({ params: { execution_id } }, { permit }) => {
      const row = await executions.get(execution_id);
      permit.demand(workflowOf(row));
      return answer(200, await inspected(row));
    },
  };

  function askedOf({ timeout, inspect }: Told, call: Call) {
    const as = forCallers((row) => toldOf(row, inspect));
    const longestSeconds = syncTimeoutSeconds;
    return { mode: "sync" as const, manner: { timeout }, asker: askerOf(call), longestSeconds, as };
  }

  async function toldOf(row: ExecutionRow, inspect: boolean | undefined) {
    if (inspect) return recordForCaller(await inspected(row));
    return toBasic(await executions.shown(row));
  }

  async function inspected(row: ExecutionRow) {
    const [shown, log] = await Promise.all([executions.shown(row), executions.logUpTo(row)]);
    return toInspected(shown, await executions.who(row), log);
  }
}
