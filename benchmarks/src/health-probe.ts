// A thread of its own, so that the load's client does not delay it: asks GET /health every 10 ms,
// whether or not the one before has been answered, until it is told to stop.
import { parentPort, workerData } from "node:worker_threads";
import { JsonClient } from "./json-client.ts";

export interface Probe {
  /** Milliseconds, by the clock of `Date.now()`. */
  readonly at: number;
  readonly ms: number;
}

const EVERY_MS = 10;
const client = new JsonClient((workerData as { url: string }).url);
const probes: Probe[] = [];
const open = new Set<Promise<void>>();

const timer = setInterval(() => {
  const at = Date.now();
  const start = performance.now();
  const asked = client.send({ method: "GET", path: "/health" }).then(() => {
    probes.push({ at, ms: performance.now() - start });
    open.delete(asked);
  });
  open.add(asked);
}, EVERY_MS);

parentPort?.once("message", () => void finish());

async function finish(): Promise<void> {
  clearInterval(timer);
  await Promise.all(open);
  client.close();
  parentPort?.postMessage(probes);
}
