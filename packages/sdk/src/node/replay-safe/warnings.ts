import { callSite, isCalledByNode } from "../call-site.ts";
import { type Body, currentBody, natively } from "./body.ts";
import { type AnyFunction, replace, replaceClass } from "./replace.ts";
import { UNRECORDED_CALLS, type UnrecordedCalls } from "./unrecorded-calls.ts";

/** Calls already warned about: finding a place in a stack is not cheap. */
const warned = new WeakMap<object, Set<string>>();

/** Calls that are not recorded go through, with a warning that says what to do instead. */
export function installWarnings(): void {
  for (const calls of UNRECORDED_CALLS) {
    for (const key of calls.keys) {
      if (calls.areClasses) installClass(calls, key);
      else installFunction(calls, key);
    }
  }
}

function installFunction(calls: UnrecordedCalls, key: string): void {
  const { of, connects = false } = calls;
  const name = `${of === undefined ? "" : `${of}.`}${key}`;
  replace(calls.holders, key, (native) => {
    return function unrecorded(this: unknown, ...args: unknown[]) {
      const body = currentBody();
      if (!body) return native.apply(this, args);
      warnOnce(body, calls, { name, called: unrecorded });
      const run = () => native.apply(this, args);
      return connects ? natively(run) : run();
    };
  });
}

function installClass(calls: UnrecordedCalls, key: string): void {
  replaceClass(calls.holders, key, () => {
    const body = currentBody();
    if (body) warnOnce(body, calls, { name: `new ${key}` });
  });
}

function warnOnce(
  { scope, world }: Body,
  { differs, fix }: UnrecordedCalls,
  { name, called }: { readonly name: string; readonly called?: AnyFunction },
): void {
  // Code aside of a body is in no order with it, and its timers are the machine's.
  if (differs === "moment" && world.timer === undefined) return;
  const known = warned.get(scope.runtime) ?? new Set();
  warned.set(scope.runtime, known);
  if (known.has(name)) return;
  // Node's loader of modules, say, reads files.
  if (called && isCalledByNode(called)) return;
  known.add(name);
  const place = callSite();
  const at = place === undefined ? "" : ` at ${place}`;
  const why =
    differs === "value"
      ? "it is not recorded, so it may come out differently when the body is replayed"
      : "no log holds when it answers, and a replay does not wait for it";
  world.warn(
    name,
    `${name}()${at} was called in ${scope.aside ?? "a workflow body"}: ${why}; ${fix}`,
  );
}
