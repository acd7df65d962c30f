import { Server as NetServer } from "node:net";
import type { App } from "./create-app.ts";

/** For so long each answer tells its client to open its next connection to another server. */
const LEAVE_MS = 1_000;
/** Requests that are still running when the process stops get this long. */
const CLOSE_MS = 5_000;

/** Calls back once after that many milliseconds; the answer cancels. */
type SetTimer = (run: () => void, ms: number) => () => void;

/**
 * Stops taking connections, where other servers serve too. A request on an open connection is still
 * answered, as the last one of that connection. A connection that rests is not ended here: a request
 * that a client sends at that moment would get no answer, and clients do not send a start twice.
 */
export function leave({ server }: App, setTimer: SetTimer): Promise<void> {
  server.prependListener("request", (_, response) => {
    response.setHeader("connection", "close");
  });
  return new Promise((resolve) => {
    setTimer(resolve, LEAVE_MS);
    // `close` of an HTTP server would also end the connections that rest.
    NetServer.prototype.close.call(server);
  });
}

/** Ends streams and lets requests finish, for some seconds at most. */
export async function closeApp(app: App, setTimer: SetTimer): Promise<void> {
  const cancel = setTimer(() => app.server.closeAllConnections(), CLOSE_MS);
  await app.close();
  cancel();
}
