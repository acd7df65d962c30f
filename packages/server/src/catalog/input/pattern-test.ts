import { RE2JS } from "re2js";
import { guarded } from "./guarded.ts";
import type { MakeTest } from "./schema-validator.ts";

/** Which flags a pattern was written with is not known; it fits when it does under any of them. */
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

/** Most patterns answer in a hundredth of it. */
const NATIVE_MS = 5;

/**
 * The same in time that grows with the text, for patterns that can be read so; what looks around
 * itself or refers back cannot. The engines differ in rare details (what `.` and `\\s` are), so what
 * the linear one refuses is refused only when Node's own does not answer soon.
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
