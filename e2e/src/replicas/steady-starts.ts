import { setTimeout as sleep } from "node:timers/promises";
import type { Http } from "../harness/http.ts";
import type { Random } from "../harness/random.ts";

export interface SteadyStarts extends AsyncDisposable {
  readonly answered: number;
  /** Why each of the others brought no execution, with the moment. */
  readonly failures: readonly string[];
  stop(): Promise<void>;
}

const CLIENTS = 16;

/**
 * Clients that start something all the time, over connections that they keep: often enough that one
 * of them sends in the very moment in which a server ends its connections. Each repeats one key, so
 * that the server has little to do, and no second chance is taken.
 */
export function steadyStarts(http: Http, random: Random): SteadyStarts {
  const failures: string[] = [];
  let answered = 0;
  let isStopped = false;
  const client = async (of: number) => {
    const key = { "idempotency-key": `steady-${of}` };
    while (!isStopped) {
      const start = http.post("/workflows/hello_world/run/async", "Ada", key);
      const why = await start.then(
        ({ status, body }) => (status < 300 ? undefined : `${status} ${JSON.stringify(body)}`),
        (error: Error) => `${error.message}: ${String(error.cause)}`,
      );
      if (why === undefined) answered++;
      else failures.push(`${new Date().toISOString()} ${why}`);
      await sleep(random.between(5, 45));
    }
  };
  const clients = Array.from({ length: CLIENTS }, (_, of) => client(of));
  const stop = async () => {
    isStopped = true;
    await Promise.all(clients);
  };
  return {
    get answered() {
      return answered;
    },
    failures,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
