import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { createUuidV7, SESSION_HEADER, WORKER_PROTOCOL } from "@engine/contract";
import { atATime } from "./at-a-time.ts";
import { gate } from "./gate.ts";
import { JsonClient } from "./json-client.ts";

interface RawWorker {
  readonly stream: ClientRequest;
  readonly isOpen: () => boolean;
  readonly timer: NodeJS.Timeout;
}

/** Configuration of a server that they register at: all of them come from one address. */
export const LETS_MANY_REGISTER: Readonly<Record<string, string>> = {
  ENGINE_SECURITY__RATE_LIMITS__REGISTER: "",
};

/**
 * Workers that only speak the protocol: each registers, holds its stream open and sends heartbeats,
 * all of them in this process. They can run nothing.
 */
export class RawWorkers {
  readonly #client: JsonClient;
  readonly #url: string;
  #workers: readonly RawWorker[] = [];
  #failure: unknown;

  constructor(url: string) {
    this.#url = url;
    this.#client = new JsonClient(url);
  }

  async connect(count: number): Promise<void> {
    this.#workers = await atATime(16, Array(count).keys(), (i) => this.#connectOne(`raw-${i}`));
  }

  /** All streams are open, and every heartbeat was answered. */
  gateConnected(): void {
    gate(this.#failure === undefined, () => `a heartbeat failed: ${this.#failure}`);
    const lost = this.#workers.filter(({ isOpen }) => !isOpen()).length;
    gate(lost === 0, () => `${lost} of ${this.#workers.length} workers lost their stream`);
  }

  close(): void {
    for (const { stream, timer } of this.#workers) {
      clearInterval(timer);
      stream.destroy();
    }
    this.#client.close();
  }

  async #connectOne(name: string): Promise<RawWorker> {
    const { session, heartbeat_seconds } = await this.#client.send<{
      session: string;
      heartbeat_seconds: number;
    }>({ method: "POST", path: "/workers/register", body: registrationOf(name) });
    const headers = { [SESSION_HEADER]: session };
    const stream = request(`${this.#url}/workers/${name}/connect`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      agent: false,
    });
    // Seen by `isOpen`: an end that we did not ask for fails the run.
    stream.on("error", () => {});
    stream.end('{"running":[]}');
    const [answer] = (await once(stream, "response")) as [IncomingMessage];
    gate(answer.statusCode === 200, () => `connect answered ${answer.statusCode}`);
    answer.on("error", () => {});
    let isOpen = true;
    answer.once("close", () => {
      isOpen = false;
    });
    const [first] = (await once(answer.setEncoding("utf8"), "data")) as [string];
    gate(first.includes("welcome"), () => `a stream began with ${first.slice(0, 100)}`);
    answer.resume();
    const body = { running: [], slots_free: 1 };
    const heartbeat = {
      method: "POST",
      path: `/workers/${name}/heartbeat`,
      body,
      headers,
    } as const;
    const timer = setInterval(() => {
      this.#client.send(heartbeat).catch((error: unknown) => {
        this.#failure ??= error;
      });
    }, heartbeat_seconds * 1000);
    return { stream, isOpen: () => isOpen, timer };
  }
}

const processId = createUuidV7(Date.now, () => crypto.randomUUID());

function registrationOf(name: string): object {
  return {
    name,
    instance_id: processId(),
    protocol: WORKER_PROTOCOL,
    engine_version: "0.1.0",
    host: "bench",
    pid: process.pid,
    runtime: { os: process.platform, arch: process.arch, node: process.version },
    slots: 1,
  };
}
