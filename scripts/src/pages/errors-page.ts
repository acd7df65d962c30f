import { ENGINE_FAILURES, ERRORS } from "@engine/contract";
import { code, fenced, table } from "../markdown.ts";

/** `docs/errors.md`, from the error table and the failures the engine makes. */
export function errorsPage(): string {
  const all = Object.entries(ERRORS).map(([name, { status, meaning }]) => ({
    name,
    status,
    meaning,
  }));
  const onTheWire = all
    .filter((row) => row.status !== null)
    .sort((a, b) => Number(a.status) - Number(b.status))
    .map(({ name, status, meaning }) => [code(name), String(status), meaning]);
  const inProcess = all
    .filter((row) => row.status === null)
    .map(({ name, meaning }) => [code(name), meaning]);
  const failures = Object.entries(ENGINE_FAILURES).map(([type, failure]) => [
    code(type),
    code(failure.code),
    failure.retryable ? "yes" : "no",
    failure.meaning,
  ]);
  const example = {
    error: {
      code: "not_found",
      message: "no workflow shop/checkout",
      details: { resource: "workflow" },
    },
  };
  return `# Errors

An error answer is always this body; the CLI and the client show its code and message.

${fenced("json", JSON.stringify(example, null, 2))}
\`code\` is stable and one of the table; \`message\` is for people and may change; \`details\` is there where the table says so. In code it is an \`EngineError\` of \`@engine/contract\` with the same three fields.

## Over HTTP

${table(["code", "status", "when, and what to do"], onTheWire)}
## Thrown in your own process

${table(["code", "when, and what to do"], inProcess)}
## Failures of workflows and tasks

What went wrong inside a workflow is not an error of the engine but data in its log: \`{type, code, message, retryable, details, cause, attempts, task_call_id}\`. \`type\` is the name of the error's class; your own errors have no \`code\` and follow the task's \`retry\`, unless they are a \`TerminalError\`. These are the ones that the engine makes:

${table(["type", "code", "tried again", "when"], failures)}`;
}
