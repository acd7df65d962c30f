import { isDeepStrictEqual } from "node:util";
import { type Encoded, encode } from "@engine/contract";
import type { Evidence, ExecutionAtRest, ValueSeen } from "../evidence.ts";
import { callsOf, fieldsOf, storedForm } from "./recorded-calls.ts";
import { recordedValues } from "./recorded-values.ts";
import type { Violation } from "./violation.ts";

/** I9: what code gets from a call is what is recorded of it, in the first life and in every other. */
export function liveValues(evidence: Evidence): readonly Violation[] {
  const values = Map.groupBy(evidence.values, ({ execution_id }) => execution_id);
  return evidence.executions.flatMap((execution) => {
    const { execution_id } = execution.row;
    const recorded = outcomesByPlace(execution);
    const messages = new Set<string>();
    const firsts = new Map<string, ValueSeen>();
    const own = values.get(execution_id) ?? [];
    const ofWorld = own.filter(({ kind }) => kind === "recorded");
    for (const message of recordedValues(ofWorld, execution, evidence)) messages.add(message);
    for (const seen of own) {
      if (seen.kind === "recorded") continue;
      const { kind, path, value, process, generation } = seen;
      const place = `${kind} ${path}`;
      const first = firsts.get(place);
      if (!first) firsts.set(place, seen);
      // What code returned ahead of its log may be lost with what it made of it: only the record counts.
      else if (kind !== "output" && !isDeepStrictEqual(first.value, value)) {
        messages.add(
          `${place} was ${short(first.value)} in ${first.process} under generation ${first.generation} and ${short(value)} in ${process} under ${generation}`,
        );
      }
      const outcome = recorded.get(place);
      if (!outcome) continue;
      const expected = storedForm(outcome.value, evidence);
      if (isDeepStrictEqual(expected, value)) continue;
      messages.add(
        `${place} was ${short(value)} in ${process} under generation ${generation}; recorded at event ${outcome.seq} is ${short(expected)}`,
      );
    }
    return [...messages].map((message) => ({ invariant: "I9" as const, execution_id, message }));
  });
}

interface Outcome {
  readonly seq: number;
  readonly value: Encoded;
}

/** Outcomes by kind and place, as code names the values that it gets. */
function outcomesByPlace(execution: ExecutionAtRest): ReadonlyMap<string, Outcome> {
  const outcomes = new Map<string, Outcome>();
  for (const { kind, start, outcome, task_call_id } of callsOf(execution).values()) {
    // A task that a task calls hands its value to a function, which keeps it to itself.
    if (!start || outcome?.type !== "TASK_COMPLETED") continue;
    const fields = fieldsOf(start);
    const { path, name, input } = fields as {
      path?: string;
      name?: string;
      input?: { path?: string };
    };
    if (kind === null && path !== undefined && !task_call_id.includes("inner~")) {
      outcomes.set(`task ${path}`, outcome);
    } else if (kind === "pause") outcomes.set(`pause ${name}`, outcome);
    else if (kind === "call" && input?.path?.endsWith(".c")) {
      outcomes.set(`child ${input.path.slice(0, -2)}`, outcome);
    }
  }
  const { state, output, head } = execution.row;
  if (state === "COMPLETED") outcomes.set("output output", { seq: head, value: output });
  return outcomes;
}

function short(value: Encoded): string {
  const text = JSON.stringify(value ?? encode(undefined, "value"));
  return text.length > 120 ? `${text.slice(0, 117)}…` : text;
}
