import { setTimeout as sleep } from "node:timers/promises";
import type { ExecutionSummary } from "@engine/contract";
import { PAYMENT } from "../fixtures/ledger.ts";
import type { Http } from "../harness/http.ts";

/** Signals sent to one execution: those the server has acknowledged, and all that were tried. */
export interface Sent {
  readonly acknowledged: number;
  readonly tried: number;
}

export interface Payer extends AsyncDisposable {
  readonly sent: ReadonlyMap<string, Sent>;
  /** Sends one signal, which the server may or may not get to know of. */
  pay(execution_id: string): Promise<void>;
}

/** Pays every errand that waits for its money, also those whose start nobody was told of. */
export function startPayer(http: Http): Payer {
  const sent = new Map<string, Sent>();
  let stopped = false;

  const count = (id: string, more: Sent) => {
    const { acknowledged, tried } = sent.get(id) ?? { acknowledged: 0, tried: 0 };
    const total = { acknowledged: acknowledged + more.acknowledged, tried: tried + more.tried };
    sent.set(id, total);
  };
  const pay = async (id: string) => {
    count(id, { acknowledged: 0, tried: 1 });
    // The server may be away; what it has acknowledged it must not lose.
    const answer = await http
      .post(`/executions/${id}/signals/paid`, PAYMENT)
      .catch(() => undefined);
    if (answer?.status === 202) count(id, { acknowledged: 1, tried: 0 });
  };
  const rounds = async () => {
    while (!stopped) {
      for (const id of await waitingErrands(http).catch(() => [])) await pay(id);
      await sleep(300);
    }
  };
  const running = rounds();
  return {
    sent,
    pay,
    async [Symbol.asyncDispose]() {
      stopped = true;
      await running;
    },
  };
}

async function waitingErrands(http: Http): Promise<string[]> {
  const path = "/executions?workflow=errand&state=running&order=created_asc&limit=200";
  const { body } = await http.get<{ items: ExecutionSummary[] }>(path);
  const waiting = body.items.filter((one) => one.waiting.some(({ kind }) => kind === "signal"));
  return waiting.map(({ execution_id }) => execution_id);
}
