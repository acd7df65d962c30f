/** The first line of a stack that is neither the engine's nor Node's own. */
export function callSite(): string | undefined {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 30;
  const { stack = "" } = new Error();
  Error.stackTraceLimit = stackTraceLimit;
  return userLine(stack);
}

/** Whether Node's own code has called a function that runs; `util.promisify` calls for others. */
export function isCalledByNode(called: (...args: never[]) => unknown): boolean {
  const at: { stack?: string } = {};
  Error.captureStackTrace(at, called);
  const [, caller = ""] = at.stack?.split("\n") ?? [];
  return /\bnode:(?!internal\/util:)/.test(caller);
}

/** @param stack As V8 writes it. */
function userLine(stack: string): string | undefined {
  for (const line of stack.split("\n").slice(1)) {
    const place = /\(?((?:file:\/\/)?\/[^()]+:\d+:\d+)\)?$/.exec(line.trim())?.[1];
    if (place === undefined || isOurs(place)) continue;
    return shortened(place);
  }
  return undefined;
}

const OWN_FOLDER = new URL("../", import.meta.url).pathname;

function isOurs(place: string): boolean {
  if (place.includes("node:") || place.includes("/node_modules/")) return true;
  // A test of the SDK's own stands for a user's file.
  return place.includes(OWN_FOLDER) && !/\.test\.[jt]s:/.test(place);
}

/** Failures travel: they name the file, not where this machine keeps it. */
function shortened(place: string): string {
  return place.slice(place.lastIndexOf("/") + 1);
}
