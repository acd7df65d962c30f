/** Calls that wait: pauses, sleeps, signals, children. Configs are here too, and wait for nothing. */
import {
  type CallKind,
  checkRoutingInput,
  type Encoded,
  engineFailure,
  type Failure,
  formatInstant,
  hasRoutingInput,
  parseInstant,
  peek,
  type RoutingInputFault,
  routingInputFault,
  type Stored,
  store,
} from "@engine/contract";
import type { Core } from "../core.ts";
import { toFailure } from "../endings/failure.ts";
import { changed } from "../endings/failure-stacks.ts";
import { STORED_NULL } from "../log/event-entry.ts";
import { storeOr } from "../stored.ts";
import type { Call, ChildSpec, PauseSpec, SleepSpec } from "./call.ts";

/** What a call's TASK_STARTED holds. */
export interface Begun {
  readonly value: string;
  readonly meta?: Readonly<Record<string, unknown>>;
}

/** A call that has an outcome of its own: a user's task, a wait, a recorded value. */
export interface LeafSpec {
  readonly name: string;
  readonly kind: CallKind;
  /** Tells the call apart from others of the same name, for the divergence check. */
  readonly label: string | null;
  /** The value of its TASK_STARTED as stored text, for the comparison with a recorded one. */
  readonly started: string | null;
  /** The TASK_STARTED of a call that depends on when it begins; else it is `started`. */
  readonly begin?: () => Begun;
  /** What goes with its TASK_STARTED to the server and into no log, as JSON text. */
  readonly routing?: string | undefined;
  /** Carries it out for the first time, or again when the log has no outcome. */
  readonly start: (call: Call, begun: Begun) => void;
  /**
   * Its start is in the log. Set where the server may answer the call in the commit that holds the
   * start, with a signal that is there, say: until then nothing else may end it.
   */
  readonly begun?: (call: Call, begun: Begun) => void;
}

const NOTHING: Stored = store(undefined, "output");

/** The instant in the value of a TASK_STARTED, milliseconds since 1970. */
function untilOf(value: string): number {
  const { until } = peek(JSON.parse(value) as Encoded) as { until: string };
  return parseInstant(until);
}

/** The argument of the call could not be stored: it fails, and a replay has to know it again. */
function refusedStart(label: string): Begun {
  return { value: STORED_NULL, meta: { label } };
}

/** A long wait of a transient execution has nowhere to be recorded (EXE-58). */
function refuseTransient(core: Core, call: Call): boolean {
  if (!core.options.info.transient) return false;
  const message = `${call.name} needs a durable execution: this workflow has durability "transient"`;
  core.fail(call, engineFailure("TransientUnsupportedError", message, { task_call_id: call.id }));
  return true;
}

export function pauseSpec(
  core: Core,
  { name, output, until, after, onComplete }: PauseSpec,
): LeafSpec {
  const shown = { name, output: output ?? null };
  const { traceOf } = core.failures;
  const { stored, failure } = storeOr(core, shown, "pause", { traceOf });
  const start = (call: Call, { value }: Begun) => {
    if (failure) return core.fail(call, changed(failure, { task_call_id: call.id }));
    if (refuseTransient(core, call)) return;
    call.pauseText = stored.text;
    const isOpen = call.recorded?.steps.some((event) => event.type === "TASK_PAUSED");
    if (!isOpen) core.emit(call, "TASK_PAUSED", value);
    core.parking.wait(call);
    if (until === undefined && after === undefined) return;
    core.alarms.set(call, untilOf(value), () => {
      const resumed = store({ name, input: undefined, cause: "timer" }, "value");
      core.emit(call, "TASK_RESUMED", resumed.text);
      core.complete(call, NOTHING);
    });
  };
  const begin = () => {
    if (failure) return refusedStart(name);
    const at = until ?? (after === undefined ? undefined : core.options.host.now() + after);
    if (at === undefined && onComplete === undefined) return { value: stored.text };
    const wake = {
      ...(at !== undefined && { until: formatInstant(at) }),
      ...(onComplete !== undefined && { on_complete: onComplete }),
    };
    return { value: store({ ...shown, ...wake }, "pause").text };
  };
  const started = stored?.text ?? null;
  return { name: "pause", kind: "pause", label: name, started, begin, start };
}

export function sleepSpec(core: Core, spec: SleepSpec): LeafSpec {
  const { host, limits } = core.options;
  const begin = () => {
    const now = host.now();
    // Rounded up to a millisecond, so that a sleep never ends early.
    const until = "ms" in spec ? Math.ceil(now + spec.ms) : spec.until;
    const value = JSON.stringify({ until: formatInstant(until) });
    const isInline = until - now <= limits.inline_wait * 1000;
    return isInline ? { value, meta: { inline: true } } : { value };
  };
  const start = (call: Call, { value, meta }: Begun) => {
    if (meta?.["inline"] === true) {
      // A short sleep keeps its slot.
      core.parking.enter(call);
      call.onAbort = () => core.givingUp.cancel(call);
    } else if (refuseTransient(core, call)) return;
    else core.parking.wait(call);
    core.alarms.set(call, untilOf(value), () => core.complete(call, NOTHING));
  };
  return { name: "sleep", kind: "sleep", label: null, started: null, begin, start };
}

export function signalSpec(core: Core, name: string, timeout: number | undefined): LeafSpec {
  const start = (call: Call) => {
    if (!refuseTransient(core, call)) core.parking.wait(call);
  };
  const begun = (call: Call, { value }: Begun) => {
    if (timeout === undefined || call.isConcluded) return;
    core.alarms.set(call, untilOf(value), () => core.complete(call, NOTHING));
  };
  const begin = () => {
    const { host } = core.options;
    const until = timeout === undefined ? {} : { until: formatInstant(host.now() + timeout) };
    return { value: JSON.stringify({ name, ...until }) };
  };
  return { name: "signal", kind: "signal", label: name, started: null, begin, start, begun };
}

export function childSpec(core: Core, spec: ChildSpec): LeafSpec {
  const { workflow, input, version, wait, detach, name, routingInput = {} } = spec;
  const asked = {
    workflow,
    input: input ?? null,
    ...(version !== undefined && { version }),
    wait,
    detach,
    ...(name !== undefined && { name }),
  };
  const { traceOf } = core.failures;
  const kept = storeOr(core, asked, "call", { traceOf });
  const { value, reason } = checkRoutingInput(routingInput);
  const failure = kept.failure ?? (reason && badRouting(workflow, reason));
  const start = (call: Call) => {
    if (failure) return core.fail(call, changed(failure, { task_call_id: call.id }));
    if (!refuseTransient(core, call)) core.parking.wait(call);
  };
  const call = { name: "call", kind: "call", label: workflow, start } as const;
  if (kept.failure || failure)
    return { ...call, started: null, begin: () => refusedStart(workflow) };
  const begun = () => {};
  const routing = hasRoutingInput(value) ? JSON.stringify(value) : undefined;
  return { ...call, started: kept.stored.text, begun, routing };
}

function badRouting(workflow: string, reason: RoutingInputFault): Failure {
  const message = `call of ${workflow}: option routingInput ${routingInputFault(reason)}`;
  return engineFailure("InvalidInputError", message, { details: { reason } });
}

export function configSpec(core: Core, key: string): LeafSpec {
  const start = (call: Call) => {
    core.parking.enter(call);
    read(call).catch((error: unknown) =>
      core.fail(call, toFailure(error, { task_call_id: call.id })),
    );
  };
  const read = async (call: Call) => {
    const configs = await core.options.port.services.configs(null, [key]);
    if (call.isConcluded) return;
    if (Object.hasOwn(configs, key)) return core.complete(call, store(configs[key], "output"));
    const message = `no config "${key}"; set it, or correct the key`;
    core.fail(call, engineFailure("ConfigMissingError", message, { task_call_id: call.id }));
  };
  const started = JSON.stringify({ key });
  return { name: "get_config", kind: "get_config", label: key, started, start };
}
