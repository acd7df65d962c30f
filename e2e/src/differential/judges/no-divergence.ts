import type { Evidence, Violation } from "../evidence.ts";
import type { LoggedEvent } from "./logged-calls.ts";

/** I7, I9: nothing in a log says that its code went another way than before. */
export function noDivergence({ executions }: Evidence): readonly Violation[] {
  return executions.flatMap(({ execution_id, history }) => {
    const messages = history.events.flatMap(divergence);
    return messages.map((message) => ({ judge: "no divergence", execution_id, message }));
  });
}

function divergence({ seq, type, value }: LoggedEvent): string[] {
  const fields = (value ?? {}) as { type?: string; code?: string; message?: string };
  if (type === "WORKFLOW_WARNING" && fields.code === "argument_changed") {
    return [`event ${seq}: ${fields.message}`];
  }
  const isFailure = type === "WORKFLOW_FAILED" || type === "TASK_FAILED";
  if (isFailure && JSON.stringify(value).includes('"NondeterminismError"')) {
    return [`event ${seq}: ${fields.message}`];
  }
  return [];
}
