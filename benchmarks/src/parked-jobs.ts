import type { ExecutionRecord } from "@engine/contract";
import { atATime } from "./at-a-time.ts";
import { gate } from "./gate.ts";
import type { HttpClient } from "./http-client.ts";
import { sharedClock } from "./shared-clock.ts";
import { passed, until } from "./until.ts";

const WORKER = "bench";
const AT_A_TIME = 64;
const TELL_EVERY = 10_000;
/** Questions would compete with what is measured. */
const REST_MS = 30;
const START_LIMIT_MS = 60_000;

/** Milliseconds to the first line of the body that a write of metadata lets start. */
export interface Started {
  readonly fromRequest: number;
  /** Less than 0 where the body was quicker than the answer. */
  readonly fromAnswer: number;
}

/** Executions of `routed`, each of which waits for a worker with metadata of its own key. */
export class ParkedJobs {
  readonly #client: HttpClient;
  readonly #ids: string[] = [];
  #started = 0;

  constructor(client: HttpClient) {
    this.#client = client;
  }

  async park(size: number, tell: (now: number) => void): Promise<void> {
    const from = this.#ids.length;
    let done = from;
    await atATime(AT_A_TIME, Array(size).keys(), async (i) => {
      const n = from + i;
      this.#ids[n] = await this.#client.start("routed", { key: String(n) });
      if (++done % TELL_EVERY === 0) tell(done);
    });
    await this.gateParked();
  }

  /** None but those that were let start have started. */
  async gateParked(): Promise<void> {
    const expected = this.#ids.length - this.#started;
    const waiting = await this.#client.countExecutions("routed", "CREATED");
    gate(waiting === expected, () => `${waiting} of routed wait, not ${expected}`);
  }

  /** Gives the worker the metadata of one of them in place of what it had. */
  async start(): Promise<Started> {
    const n = this.#next();
    const asked = sharedClock();
    await this.#client.put(`/admin/workers/${WORKER}/metadata`, {
      metadata: { [`job.${n}`]: "yes" },
      replace: true,
    });
    const answered = sharedClock();
    await passed(REST_MS);
    const began = await this.#began(this.#ids[n] ?? "");
    return { fromRequest: began - asked, fromAnswer: began - answered };
  }

  /** From everywhere in the queue, none of them twice. */
  #next(): number {
    const step = 7_919;
    return (this.#started++ * step) % this.#ids.length;
  }

  async #began(id: string): Promise<number> {
    let record: ExecutionRecord | undefined;
    const isDone = async () => {
      record = await this.#client.get<ExecutionRecord>(`/executions/${id}`);
      return record.state === "COMPLETED";
    };
    const late = () => `${id} is ${record?.state}, though a worker has its metadata,`;
    await until(isDone, { limitMs: START_LIMIT_MS, late });
    return Number(record?.output);
  }
}
