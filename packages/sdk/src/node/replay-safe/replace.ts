// biome-ignore lint/suspicious/noExplicitAny: natives of any shape, passed through as they are
export type AnyFunction = (this: any, ...args: any[]) => any;

/**
 * Puts another function in a native one's place, on every holder that has the native: attributes,
 * name, length and own properties stay as they were.
 */
export function replace(
  holders: readonly object[],
  key: string,
  make: (native: AnyFunction) => AnyFunction,
): void {
  const native = functionAt(holders[0], key);
  if (!native) return;
  const replacement = likeNative(make(native), native);
  for (const holder of holders) {
    const descriptor = Object.getOwnPropertyDescriptor(holder, key);
    if (descriptor?.value !== native) continue;
    Object.defineProperty(holder, key, { ...descriptor, value: replacement });
  }
}

/**
 * Calls back at each `new` of a native class, on every holder that has it. Subclasses,
 * `instanceof` and what is static see no difference.
 */
export function replaceClass(holders: readonly object[], key: string, onNew: () => void): void {
  replace(holders, key, (native) => {
    const replacement: AnyFunction = new Proxy(native, {
      construct(target, args, made) {
        onNew();
        return Reflect.construct(target, args, made === replacement ? target : made) as object;
      },
    });
    native.prototype.constructor = replacement;
    return replacement;
  });
}

/** Gives a replacement the properties of the native function, but for those it has fixed itself. */
export function likeNative(replacement: AnyFunction, native: AnyFunction): AnyFunction {
  for (const key of Reflect.ownKeys(native)) {
    if (Object.getOwnPropertyDescriptor(replacement, key)?.configurable === false) continue;
    const descriptor = Object.getOwnPropertyDescriptor(native, key);
    if (descriptor && key !== "prototype") Object.defineProperty(replacement, key, descriptor);
  }
  return replacement;
}

function functionAt(holder: object | undefined, key: string): AnyFunction | undefined {
  const value: unknown = holder && Object.getOwnPropertyDescriptor(holder, key)?.value;
  return typeof value === "function" ? (value as AnyFunction) : undefined;
}
