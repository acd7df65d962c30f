import { isDeepStrictEqual } from "node:util";
import { type Encoded, type Event, encode, type Json } from "@engine/contract";
import type { ClientRequest, Evidence, ExecutionAtRest } from "../evidence.ts";
import { type Excuse, uncounted } from "./excuses.ts";
import { callsOf, copiedUpTo, fieldsOf, type RecordedCall } from "./recorded-calls.ts";
import { isNothing } from "./timers.ts";
import type { Violation } from "./violation.ts";

/** I11: a resume or a signal is consumed exactly once, in order; who timed out consumed nothing. */
export function consumedOnce(evidence: Evidence, excuse: Excuse = uncounted): readonly Violation[] {
  const requests = Map.groupBy(evidence.requests, ({ asked }) =>
    asked.kind === "signal" || asked.kind === "resume" ? asked.execution_id : "",
  );
  return evidence.executions.flatMap((execution) => {
    const { execution_id } = execution.row;
    const messages = [
      ...signalsOf(execution),
      ...pausesOf(execution),
      ...(requests.get(execution_id) ?? []).flatMap((request) => {
        return arrivals(request, execution, excuse);
      }),
    ];
    return messages.map((message) => ({ invariant: "I11" as const, execution_id, message }));
  });
}

interface SignalCall {
  readonly id: string;
  readonly isTimed: boolean;
  readonly timedOut: boolean;
  readonly name: string;
  readonly from: number;
  /** Of its outcome, Infinity while it is open. */
  readonly to: number;
  readonly got: Encoded | undefined;
}

function signalsOf(execution: ExecutionAtRest): string[] {
  const calls = [...callsOf(execution).values()].flatMap(signalCall);
  const sent = execution.log
    .filter(({ event }) => event.type === "WORKFLOW_SIGNALED")
    .map(({ event }) => ({
      seq: event.seq,
      ...(fieldsOf(event) as { name: string; payload?: unknown }),
    }));
  const names = new Set([...calls, ...sent].map(({ name }) => name));
  return [...names].flatMap((name) => {
    const arrived = sent.filter((one) => one.name === name);
    const waiting = calls.filter((one) => one.name === name);
    const nothing = waiting.flatMap((call) => missed(call, arrived, waiting));
    const served = waiting.filter(({ got }) => got !== undefined).sort((a, b) => a.to - b.to);
    return [
      ...nothing,
      ...served.flatMap(({ id, to, from, got }, i) => {
        const signal = arrived[i];
        if (!signal || signal.seq > to) {
          return [`${id} got a signal ${name} at event ${to}, and ${i} were sent before`];
        }
        if (!isDeepStrictEqual(got, encode(signal.payload, "payload"))) {
          return [
            `${id} got another payload at event ${to} than that of event ${signal.seq}, which is the next ${name}`,
          ];
        }
        const longer = waiting.find((other) => other.from < from && other.to > to);
        if (!longer) return [];
        return [
          `${id} got signal ${name} at event ${to}, and ${longer.id} had waited longer for it`,
        ];
      }),
    ];
  });
}

function signalCall({ task_call_id, kind, start, outcome }: RecordedCall): SignalCall[] {
  if (kind !== "signal" || !start) return [];
  const { name, until } = fieldsOf(start);
  const timedOut = outcome?.type === "TASK_COMPLETED" && isNothing(outcome);
  const isServed = outcome?.type === "TASK_COMPLETED" && !timedOut;
  const got = isServed ? outcome.value : undefined;
  const life = { from: start.seq, to: outcome?.seq ?? Number.POSITIVE_INFINITY };
  const isTimed = until !== undefined;
  return [{ id: task_call_id, name: String(name), isTimed, timedOut, got, ...life }];
}

/** Nothing is what a call gets whose time is over, and only while no signal is there: null is one. */
function missed(
  { id, isTimed, timedOut, to }: SignalCall,
  arrived: readonly { readonly seq: number }[],
  waiting: readonly SignalCall[],
): string[] {
  if (!timedOut) return [];
  if (!isTimed) return [`${id} got nothing at event ${to}, and has no timeout`];
  const taken = waiting.filter((other) => other.got !== undefined && other.to < to).length;
  const signal = arrived.filter(({ seq }) => seq < to)[taken];
  return signal
    ? [`${id} got nothing at event ${to}, and the signal of event ${signal.seq} was there`]
    : [];
}

/** A pause returns what resumed it, and nothing where its time ended it. */
function pausesOf(execution: ExecutionAtRest): string[] {
  return [...callsOf(execution).values()].flatMap(({ task_call_id, kind, events, outcome }) => {
    const resumed = events.findLast(({ type }) => type === "TASK_RESUMED");
    if (kind !== "pause" || !resumed || outcome?.type !== "TASK_COMPLETED") return [];
    const { cause, input } = fieldsOf(resumed);
    const expected = encode(cause === "resume" ? input : undefined, "input");
    if (isDeepStrictEqual(outcome.value, expected)) return [];
    return [
      `${task_call_id} was ended by ${cause} at event ${resumed.seq}, and returned something else than that brought`,
    ];
  });
}

/** How often the log has what a request brought, against what its sender was told. */
function arrivals(
  { asked, answer, deliveries, client }: ClientRequest,
  execution: ExecutionAtRest,
  excuse: Excuse,
): string[] {
  if (asked.kind !== "signal" && asked.kind !== "resume") return [];
  const token = asked.kind === "signal" ? asked.payload : asked.input;
  if (token === null && excuse("null cannot be told from null")) return [];
  const copied = copiedUpTo(execution);
  const times = execution.log.filter(
    ({ event }) => event.seq > copied && brings(event, token),
  ).length;
  const what = `${asked.kind} ${JSON.stringify(token)} of ${client}, delivered ${deliveries} times`;
  if (times > deliveries) return [`${what}, is ${times} times in the log`];
  if (answer.kind === "done" && times === 0)
    return [`${what}, was acknowledged, and the log does not have it`];
  // A pause takes one answer, however often it arrives.
  if (asked.kind === "resume" && times > 1) return [`${what}, is ${times} times in the log`];
  if (answer.kind === "refused" && deliveries === 1 && times > 0) {
    return [`${what}, was refused with ${answer.code}, and the log has it`];
  }
  return [];
}

function brings(event: Event, token: Json): boolean {
  if (event.type === "WORKFLOW_SIGNALED")
    return isDeepStrictEqual(fieldsOf(event)["payload"], token);
  return event.type === "TASK_RESUMED" && isDeepStrictEqual(fieldsOf(event)["input"], token);
}
