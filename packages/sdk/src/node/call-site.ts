import { framesOf } from "./stack-frames.ts";

/** The first line of a stack that is neither the engine's nor Node's own. */
export function callSite(): string | undefined {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 30;
  const { stack = "" } = new Error();
  Error.stackTraceLimit = stackTraceLimit;
  const place = framesOf(stack).find(({ isAuthors }) => isAuthors)?.place;
  return place?.slice(place.lastIndexOf("/") + 1);
}

/** Whether Node's own code has called a function that runs; `util.promisify` calls for others. */
export function isCalledByNode(called: (...args: never[]) => unknown): boolean {
  const at: { stack?: string } = {};
  Error.captureStackTrace(at, called);
  const [, caller = ""] = at.stack?.split("\n") ?? [];
  return /\bnode:(?!internal\/util:)/.test(caller);
}
