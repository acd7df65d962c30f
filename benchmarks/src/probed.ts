import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { gate } from "./gate.ts";
import type { Probe } from "./health-probe.ts";

/** The probes asked while something ran, and how much of that time lies between first and last. */
export async function probed(
  url: string,
  during: () => Promise<void>,
): Promise<{ times: readonly number[]; share: number }> {
  const thread = new Worker(new URL("./health-probe.ts", import.meta.url), { workerData: { url } });
  try {
    await once(thread, "online");
    const from = Date.now();
    await during();
    const to = Date.now();
    thread.postMessage("stop");
    const [all] = (await once(thread, "message")) as [Probe[]];
    const probes = all.filter(({ at }) => at >= from && at <= to);
    gate(probes.length > 0, () => "GET /health was never answered");
    const [first, last] = [probes[0]?.at ?? 0, probes.at(-1)?.at ?? 0];
    return { times: probes.map((probe) => probe.ms), share: (last - first) / (to - from) };
  } finally {
    await thread.terminate();
  }
}
