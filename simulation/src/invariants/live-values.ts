import { isDeepStrictEqual } from "node:util";
import type { Encoded } from "@engine/contract";
import type { Evidence, ExecutionAtRest, ValueSeen } from "../evidence.ts";
import { type Excuse, uncounted } from "./excuses.ts";
import { callsOf, fieldsOf, storedForm } from "./recorded-calls.ts";
import { recordedValues } from "./recorded-values.ts";
import { isNothing } from "./timers.ts";
import type { Violation } from "./violation.ts";

/** I9: what code gets from a call is what is recorded of it, in the first life and in every other. */
export function liveValues(evidence: Evidence, excuse: Excuse = uncounted): readonly Violation[] {
  const values = Map.groupBy(evidence.values, ({ execution_id }) => execution_id);
  return evidence.executions.flatMap((execution) => {
    const { execution_id } = execution.row;
    const own = values.get(execution_id) ?? [];
    const ofWorld = own.filter(({ kind }) => kind === "recorded");
    const places = Map.groupBy(
      own.filter(({ kind }) => kind !== "recorded"),
      ({ kind, path }) => `${kind} ${path}`,
    );
    const recorded = outcomesByPlace(execution);
    const timed = timedPlaces(execution);
    const messages = new Set([
      ...recordedValues(ofWorld, execution, { evidence, excuse }),
      ...[...places].flatMap(([place, seen]) => {
        const outcome = recorded.get(place);
        const expected = outcome && { ...outcome, value: storedForm(outcome.value, evidence) };
        return differing(place, lasting(seen, { expected, timed, excuse }), expected);
      }),
    ]);
    return [...messages].map((message) => ({ invariant: "I9" as const, execution_id, message }));
  });
}

interface Lasting {
  readonly expected: Outcome | undefined;
  /** Waits that may end by their time: pauses by place, signals one for all. */
  readonly timed: ReadonlySet<string>;
  readonly excuse: Excuse;
}

/** Without what code saw ahead of its log, and lost when something else was recorded first. */
function lasting(
  seen: readonly ValueSeen[],
  { expected, timed, excuse }: Lasting,
): readonly ValueSeen[] {
  const isAnswered = [...seen, ...(expected ? [expected] : [])].some((one) => !isNothing(one));
  // Where nothing is recorded, the execution ended otherwise, and no output counts.
  const kept = expected ?? seen.at(-1);
  const isEnd = seen.some(({ value }) => isDeepStrictEqual(value, kept?.value));
  return seen.filter((one) => {
    if (isAnswered && isNothing(one) && (timed.has(one.kind) || timed.has(`pause ${one.path}`))) {
      return !excuse("timed out ahead of its log");
    }
    if (one.kind !== "output" || !isEnd || isDeepStrictEqual(one.value, kept?.value)) return true;
    return !excuse("output of code that was ahead");
  });
}

function differing(
  place: string,
  seen: readonly ValueSeen[],
  expected: Outcome | undefined,
): readonly string[] {
  const [first] = seen;
  return seen.flatMap(({ value, process, generation }) => {
    const what = `${short(value)} in ${process} under generation ${generation}`;
    const isOther = first && !isDeepStrictEqual(first.value, value);
    const isWrong = expected && !isDeepStrictEqual(expected.value, value);
    return [
      ...(isOther
        ? [
            `${place} was ${short(first.value)} in ${first.process} under generation ${first.generation} and ${what}`,
          ]
        : []),
      ...(isWrong
        ? [`${place} was ${what}; recorded at event ${expected.seq} is ${short(expected.value)}`]
        : []),
    ];
  });
}

function timedPlaces(execution: ExecutionAtRest): ReadonlySet<string> {
  const timed = [...callsOf(execution).values()].filter(
    ({ start }) => start && fieldsOf(start)["until"] !== undefined,
  );
  // Nothing in a log says where in the code a signal was awaited.
  return new Set(
    timed.map(({ kind, start }) =>
      kind === "pause" && start ? `pause ${fieldsOf(start)["name"]}` : `${kind}`,
    ),
  );
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
  const text = JSON.stringify(value);
  return text.length > 120 ? `${text.slice(0, 117)}…` : text;
}
