import type { Trace } from "../replay/port.ts";
import { type Frame, framesOf, linesBelow } from "./stack-frames.ts";

/** Lines of a stack that are kept. */
const MOST_LINES = 20;
/** Of lines in packages that follow each other so many are kept: the author's say more. */
const LINES_IN_PACKAGES = 3;
const LONGEST_LINE = 300;

/** An error that several calls throw is read once. */
const known = new WeakMap<Error, Trace>();

/** Where an error was made, which is where it was thrown unless it was kept for later. */
export function traceOf(error: Error): Trace | undefined {
  const found = known.get(error);
  if (found) return found;
  try {
    const trace = readTrace(error);
    if (trace) known.set(error, trace);
    return trace;
  } catch {
    // Reading the stack may run the author's code: a getter that throws, a proxy that is revoked.
    return undefined;
  }
}

function readTrace(error: Error): Trace | undefined {
  const { stack, message } = error;
  const frames =
    typeof stack === "string" ? framesOf(linesBelow(stack, String(message))) : ([] as Frame[]);
  const at = frames.find(({ isAuthors }) => isAuthors)?.place;
  if (at === undefined && error instanceof AggregateError) {
    // The error of `Promise.any` is made by no code of the author's; those that it collected are.
    const first: unknown = error.errors.find((each) => each instanceof Error && traceOf(each)?.at);
    if (first instanceof Error) return traceOf(first);
  }
  return frames.length === 0 ? undefined : { at, stack: kept(frames) };
}

function kept(frames: readonly Frame[]): string[] {
  const lines: string[] = [];
  let inPackages = 0;
  for (const { isAuthors, name, place } of frames) {
    inPackages = isAuthors ? 0 : inPackages + 1;
    if (inPackages > LINES_IN_PACKAGES) continue;
    const line = name === "" ? `at ${place}` : `at ${name} (${place})`;
    if (line.length <= LONGEST_LINE) lines.push(line);
    if (lines.length === MOST_LINES) break;
  }
  return lines;
}
