import type { ServerResponse } from "node:http";

/** The client has left: there is nobody to be told anything. */
export const LEFT: Error = new Error("the client has left");

/** Aborts with {@link LEFT} once the client leaves, and once it has all of the answer. */
export function leaving(response: ServerResponse): AbortSignal {
  const left = new AbortController();
  if (response.closed) left.abort(LEFT);
  else response.once("close", () => left.abort(LEFT));
  return left.signal;
}
