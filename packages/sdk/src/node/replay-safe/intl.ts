import { currentBody } from "./body.ts";
import { type AnyFunction, likeNative, replace } from "./replace.ts";

type Format = (date?: unknown) => unknown;

/** Given no date, a formatter of a body formats the time of its newest event (EXE-31). */
export function installIntl(): void {
  const { prototype } = Intl.DateTimeFormat;
  replace([prototype], "formatToParts", (native) => {
    return function formatToParts(this: unknown, date?: unknown) {
      return native.call(this, date === undefined ? bodyNow() : date);
    };
  });
  // A getter, which gives each formatter one function of its own.
  const attributes = Object.getOwnPropertyDescriptor(prototype, "format");
  const formatOf: AnyFunction | undefined = attributes?.get;
  if (!formatOf) return;
  const formats = new WeakMap<Format, Format>();
  const getter = likeNative(function format(this: unknown): Format {
    const native = formatOf.call(this) as Format;
    const known = formats.get(native) ?? ((date) => native(date === undefined ? bodyNow() : date));
    formats.set(native, known);
    return known;
  }, formatOf);
  Object.defineProperty(prototype, "format", { ...attributes, get: getter });
}

/** Undefined outside of bodies: the native formats the real time then. */
function bodyNow(): number | undefined {
  return currentBody()?.world.now();
}
