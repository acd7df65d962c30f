import { RE2JS } from "re2js";
import { guarded } from "./guarded.ts";
import type { MakeTest } from "./schema-validator.ts";

/** The flags of a pattern are not known. A text matches when it does under any of them. */
function readingsOf(pattern: string): readonly RegExp[] {
  return ["", "u", "v"].flatMap((flags) => {
    try {
      return [new RegExp(pattern, flags)];
    } catch {
      return [];
    }
  });
}

export const nativeTest: MakeTest = (pattern) => {
  const readings = readingsOf(pattern);
  return (text) => readings.length === 0 || readings.some((reading) => reading.test(text));
};

/** How long Node's own engine may take; most patterns take a hundredth of that. */
const NATIVE_MS = 5;

/**
 * As {@link nativeTest}, but in time that only grows with the text. Patterns that look around themselves
 * or refer back cannot be read so. The two engines differ in rare details (what `.` and `\\s` are):
 * Node's own is asked where the linear one refuses, and the refusal stands where Node takes too long.
 */
export const linearTest: MakeTest = (pattern) => {
  const test = nativeTest(pattern);
  const linear = linearReadings(readingsOf(pattern));
  if (linear === undefined) return test;
  return (text) => {
    if (linear.some((reading) => reading.test(text))) return true;
    const isFit = guarded(() => test(text), NATIVE_MS);
    return isFit === "timeout" ? false : isFit;
  };
};

function linearReadings(readings: readonly RegExp[]): readonly RE2JS[] | undefined {
  try {
    return readings.map((reading) => RE2JS.compile(RE2JS.translateRegExp(reading)));
  } catch {
    return undefined;
  }
}
