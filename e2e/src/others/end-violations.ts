import { isDeepStrictEqual } from "node:util";
import type { ExecutionRecord } from "@engine/contract";
import type { End, FailureFields, Program } from "./program.ts";

export function endOf({ state, output, error }: ExecutionRecord, did: readonly string[]): End {
  const failure = error && { message: error.message, ...(error.details as FailureFields) };
  return { state, output, failure, did };
}

/** What is wrong with how a program ended and with what its tasks noted. */
export function endViolations(program: Program, end: End): readonly string[] {
  const wrong: string[] = [];
  if (!isRight(program, end)) wrong.push(`it is ${shown(end)}, not ${wanted(program)}`);
  const { did, didInAnyOrder } = program;
  if (did && !isDeepStrictEqual(end.did, did)) {
    wrong.push(`it did ${JSON.stringify(end.did)}, not ${JSON.stringify(did)}`);
  }
  if (didInAnyOrder && !isDeepStrictEqual(end.did.toSorted(), didInAnyOrder.toSorted())) {
    wrong.push(`it did ${JSON.stringify(end.did)}, not ${JSON.stringify(didInAnyOrder)}`);
  }
  return wrong;
}

function isRight(program: Program, end: End): boolean {
  if ("right" in program) return program.right(end);
  if ("cancelled" in program) return end.state === "CANCELLED";
  if ("failure" in program) return end.state === "FAILED" && matches(end.failure, program.failure);
  return end.state === "COMPLETED" && isDeepStrictEqual(end.output, program.output);
}

/** Whether it has all that is wanted; it may have more, at every level but that of lists. */
function matches(found: unknown, wanted: unknown): boolean {
  if (!isRecord(wanted)) return isDeepStrictEqual(found, wanted);
  if (!isRecord(found)) return false;
  return Object.entries(wanted).every(([key, value]) => matches(found[key], value));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function wanted(program: Program): string {
  if ("right" in program) return `as it must be: ${program.sees}`;
  if ("cancelled" in program) return "CANCELLED";
  if ("failure" in program) return `FAILED with ${JSON.stringify(program.failure)}`;
  return `COMPLETED with ${cut(program.output)}`;
}

function shown({ state, output, failure, did }: End): string {
  if (failure !== null) return `${state} with ${cut(failure)}`;
  return `${state} with ${cut(output)} (having done ${cut(did)})`;
}

function cut(value: unknown): string {
  return (JSON.stringify(value) ?? "undefined").slice(0, 600);
}
