import crypto from "node:crypto";
import timers from "node:timers";
import timerPromises from "node:timers/promises";
import { callSite } from "../call-site.ts";
import { type Body, currentBody, natively } from "./body.ts";
import { type AnyFunction, replace } from "./replace.ts";

interface Unrecorded {
  readonly holders: readonly object[];
  readonly key: string;
  /** As the user knows it, also the key under which it is warned about once. */
  readonly name: string;
  readonly fix: string;
  /** It opens connections, whose timers are nobody's sleeps. */
  readonly connects?: boolean;
}

const IN_A_TASK = "move it into a task, whose result is recorded and replayed";
const RANDOM = `use crypto.randomUUID() or Math.random(), which replay as they were, or ${IN_A_TASK}`;
const CLOCK = "use Date.now(), which replays as it was";
const TIMER = "use setTimeout(), which is a durable timer in a body";

const NODE_RANDOM = ["getRandomValues", "randomBytes", "randomInt", "randomFillSync"];

/** What a body may call and no log holds. */
const CALLS: readonly Unrecorded[] = [
  { holders: [globalThis], key: "fetch", name: "fetch", fix: IN_A_TASK, connects: true },
  { holders: [kindOf(performance)], key: "now", name: "performance.now", fix: CLOCK },
  { holders: [AbortSignal], key: "timeout", name: "AbortSignal.timeout", fix: TIMER },
  { holders: [globalThis, timers], key: "setImmediate", name: "setImmediate", fix: TIMER },
  { holders: [timerPromises], key: "setImmediate", name: "setImmediate", fix: TIMER },
  {
    holders: [kindOf(crypto.webcrypto)],
    key: "getRandomValues",
    name: "crypto.getRandomValues",
    fix: RANDOM,
  },
  ...NODE_RANDOM.map((key) => ({ holders: [crypto], key, name: `crypto.${key}`, fix: RANDOM })),
];

/** Calls already warned about: finding a place in a stack is not cheap. */
const warned = new WeakMap<object, Set<string>>();

/** Calls that are not recorded go through, with a warning that says what to do instead. */
export function installWarnings(): void {
  for (const call of CALLS) {
    replace(call.holders, call.key, (native) => warningFunction(native, call));
  }
}

/** The prototype, where the methods of the web's objects are. */
function kindOf(object: object): object {
  return Object.getPrototypeOf(object) as object;
}

function warningFunction(native: AnyFunction, call: Unrecorded): AnyFunction {
  return function unrecorded(this: unknown, ...args: unknown[]) {
    const body = currentBody();
    if (!body) return native.apply(this, args);
    warnOnce(body, call);
    const run = () => native.apply(this, args);
    return call.connects ? natively(run) : run();
  };
}

function warnOnce({ scope, world }: Body, { name, fix }: Unrecorded): void {
  const known = warned.get(scope.runtime) ?? new Set();
  warned.set(scope.runtime, known);
  if (known.has(name)) return;
  known.add(name);
  const place = callSite();
  const at = place === undefined ? "" : ` at ${place}`;
  world.warn(
    name,
    `${name}()${at} was called in a workflow body: it is not recorded, so it may come out differently when the body is replayed; ${fix}`,
  );
}
