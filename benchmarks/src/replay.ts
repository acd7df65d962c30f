import { gate } from "./gate.ts";
import type { HttpClient } from "./http-client.ts";
import { gateCount, recordedAt } from "./log-gates.ts";
import type { Measure } from "./measure.ts";
import { median } from "./stats.ts";
import { ms } from "./table.ts";

const EVENTS = [100, 1_000, 10_000];

/** What it costs a worker to continue an execution it has never seen, by the length of its log. */
export const replay: Measure = {
  name: "replay",
  async run(bench) {
    const { client, restartWorker } = await bench.engine();
    const repeats = bench.quick ? 1 : 5;
    const paused: { events: number; id: string }[] = [];
    for (const events of EVENTS) {
      for (let i = 0; i < repeats; i++) paused.push({ events, id: await build(client, events) });
    }
    await restartWorker();

    const taken = new Map<number, number[]>(EVENTS.map((events) => [events, []]));
    for (const { events, id } of paused) taken.get(events)?.push(await resume(client, events, id));
    return report(taken);
  },
};

/** A paused execution whose log holds about this many events. */
async function build(client: HttpClient, events: number): Promise<string> {
  const record = await client.post("/workflows/bench/history/run/sync", events / 2);
  gate(record.state === "PAUSED", () => `history(${events / 2}) is ${record.state}, not PAUSED`);
  return record.execution_id;
}

async function resume(client: HttpClient, events: number, id: string): Promise<number> {
  const record = await client.post(`/workflows/bench/history/resume/${id}`, null);
  gate(record.state === "COMPLETED", () => `${id} ended ${record.state} after its resume`);
  gate(record.output === 0, () => `${id}: ${record.output} recorded bodies ran again`);
  const log = await client.log(id);
  log.forEach((event, i) => {
    gate(event.seq === i + 1, () => `${id}: event ${i + 1} has seq ${event.seq}`);
  });
  // The pause and the task after it are calls too.
  gateCount(id, log, "TASK_STARTED", events / 2 + 2);
  gateCount(id, log, "TASK_COMPLETED", events / 2 + 2);
  return recordedAt(log, "WORKFLOW_COMPLETED") - recordedAt(log, "WORKFLOW_RESUMING", "last");
}

function report(taken: ReadonlyMap<number, readonly number[]>) {
  const figures: Record<string, number> = {};
  const samples: Record<string, readonly number[]> = {};
  const rows: string[][] = [];
  for (const [events, times] of taken) {
    figures[`${events}_events_ms`] = median(times);
    samples[`${events}_events_ms`] = times;
    const worst = Math.max(...times);
    rows.push([`${events} events`, ms(median(times)), ms(worst), String(times.length)]);
  }
  const title = "Resume on a worker without a copy, WORKFLOW_RESUMING to WORKFLOW_COMPLETED";
  return { tables: [{ title, columns: ["log", "p50", "max", "samples"], rows }], figures, samples };
}
