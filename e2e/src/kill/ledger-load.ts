import { setTimeout as sleep } from "node:timers/promises";
import type { ExecutionRecord } from "@engine/contract";
import { PAYMENT } from "../fixtures/ledger.ts";
import type { Http } from "../harness/http.ts";
import type { Random } from "../harness/random.ts";
import type { Payer } from "./payer.ts";

/** A start the server has acknowledged: from then on it must end well, whatever happens. */
export interface Acknowledged {
  readonly execution_id: string;
  readonly expected: number;
}

export interface Load extends AsyncDisposable {
  readonly acknowledged: readonly Acknowledged[];
  /** Why requests brought no answer, or which refusal, with the moment: nothing was promised. */
  readonly failures: readonly string[];
  /** Ends the submission and waits for the requests under way. */
  stop(): Promise<void>;
}

const SUBMITTERS = 4;

/** What each workflow adds to the value it is given. */
const KINDS = [
  ["chain", (value: number) => value + 6],
  ["fan", (value: number) => 3 * value + 36],
  ["errand", (value: number) => value + 8 + PAYMENT],
] as const;

/** Starts executions at a steady pace; a request the server did not answer counts for nothing. */
export function startLoad(
  http: Http,
  { random, file, payer }: { random: Random; file: string; payer: Payer },
): Load {
  const acknowledged: Acknowledged[] = [];
  let stopped = false;
  let started = 0;
  const failures: string[] = [];
  const fail = (why: string) => failures.push(`${new Date().toISOString()} ${why}`);

  const submitter = async () => {
    while (!stopped) {
      const value = started++;
      const [kind, result] = KINDS[value % KINDS.length] ?? KINDS[0];
      // Most starts are answered at once; some wait for the end, and with it for every kill.
      const mode = random.next() < 0.2 ? "sync" : "async";
      const input = { file, value, ms: random.between(20, 250) };
      try {
        const answer = await http.post<ExecutionRecord>(`/workflows/${kind}/run/${mode}`, input);
        if (answer.status < 300) {
          const { execution_id } = answer.body;
          acknowledged.push({ execution_id, expected: result(value) });
          // Long before it waits for it; the others are paid while they wait.
          if (kind === "errand" && random.next() < 0.5) await payer.pay(execution_id);
        } else fail(`${answer.status} ${JSON.stringify(answer.body)}`);
      } catch (error) {
        // The server is away.
        fail(`${String(error)}: ${String((error as Error).cause)}`);
      }
      await sleep(random.between(200, 600));
    }
  };
  const submitters = Array.from({ length: SUBMITTERS }, submitter);
  const stop = async () => {
    stopped = true;
    await Promise.all(submitters);
  };
  return {
    acknowledged,
    failures,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
