import { Server as NetServer } from "node:net";
import type { App } from "./create-app.ts";

/** How long clients get to hear, with an answer of theirs, that they should go to another server. */
const LEAVE_MS = 1_000;
/** Requests that are still running when the process stops get this long. */
const CLOSE_MS = 5_000;

/** Calls back once after that many milliseconds; the answer cancels. */
type SetTimer = (run: () => void, ms: number) => () => void;

/**
 * Stops taking connections where others serve too, and answers what comes on those that are open, each
 * time as the last on its connection. A connection that rests is not ended here: what a client sends
 * on it at that moment would have no answer, and a start is not sent twice.
 */
export function leave({ server }: App, setTimer: SetTimer): Promise<void> {
  server.prependListener("request", (_, response) => {
    response.setHeader("connection", "close");
  });
  return new Promise((resolve) => {
    setTimer(resolve, LEAVE_MS);
    // The one of http would end connections that rest.
    NetServer.prototype.close.call(server);
  });
}

/** Ends streams and lets requests finish, for some seconds at most. */
export async function closeApp(app: App, setTimer: SetTimer): Promise<void> {
  const cancel = setTimer(() => app.server.closeAllConnections(), CLOSE_MS);
  await app.close();
  cancel();
}
