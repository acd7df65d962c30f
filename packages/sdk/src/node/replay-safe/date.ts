import { currentBody } from "./body.ts";
import { type AnyFunction, likeNative, replace } from "./replace.ts";

/**
 * `Date()`, `new Date()` and `Date.now()` of a body read the time of the newest event it has
 * received (EXE-31). Every Date is a native one with the native prototype, so `instanceof`,
 * `structuredClone` and libraries see no difference.
 */
export function installDate(): void {
  const Native = globalThis.Date;

  function ReplaySafeDate(...args: [unknown?]): unknown {
    const target: unknown = new.target;
    const body = args.length === 0 || target === undefined ? currentBody() : undefined;
    if (target === undefined) return body ? new Native(body.world.now()).toString() : Native();
    const given = body ? [body.world.now()] : args;
    // The prototype of a subclass, or of the target that Reflect.construct was given.
    if (target !== ReplaySafeDate)
      return Reflect.construct(Native, given, target as NewableFunction);
    switch (given.length) {
      case 0:
        return new Native();
      case 1:
        return new Native(given[0] as number);
      default:
        return Reflect.construct(Native, given);
    }
  }

  // On the native itself as well: code that loaded earlier may hold on to it.
  replace([Native], "now", (native) => () => {
    const body = currentBody();
    return body ? body.world.now() : native();
  });
  Object.defineProperty(ReplaySafeDate, "prototype", { value: Native.prototype, writable: false });
  const replacement = likeNative(ReplaySafeDate, Native as unknown as AnyFunction);
  replaceValue(Native.prototype, "constructor", replacement);
  replaceValue(globalThis, "Date", replacement);
}

function replaceValue(holder: object, key: string, value: unknown): void {
  const attributes = Object.getOwnPropertyDescriptor(holder, key);
  Object.defineProperty(holder, key, { ...attributes, value });
}
