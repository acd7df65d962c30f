import {
  createdExecution,
  decideClaim,
  type Encoded,
  type Event,
  type ExecutionRow,
  type NewEvent,
} from "@engine/contract";
import { type ExecutionPort, nodeHost, startExecution } from "@engine/sdk/node";
import { gate } from "./gate.ts";
import type { Measure } from "./measure.ts";
import { median } from "./stats.ts";
import { ms } from "./table.ts";
import { chain } from "./workflows/bench-workflows.ts";

const EVENTS = [100, 1_000, 10_000];
const LIMITS = { sibling_grace: 2, max_events: 100_000, max_value_bytes: 16_777_216 };

/** The replay core alone: a recorded history in memory, no worker, no network, no database. */
export const inProcessReplay: Measure = {
  name: "in-process-replay",
  async run(bench) {
    const figures: Record<string, number> = {};
    const samples: Record<string, number[]> = {};
    const rows: string[][] = [];
    for (const events of EVENTS) {
      const history = await record(events / 2);
      const taken: number[] = [];
      for (let i = 0; i < (bench.quick ? 3 : 15); i++) taken.push(await replayOnce(history));
      figures[`${events}_events_ms`] = median(taken);
      samples[`${events}_events_ms`] = taken;
      rows.push([`${events} events`, ms(median(taken)), ms(Math.max(...taken)), `${taken.length}`]);
    }
    const columns = ["log", "p50", "max", "samples"];
    return {
      tables: [{ title: "Replay core alone, in one process", columns, rows }],
      figures,
      samples,
    };
  },
};

interface History {
  readonly row: ExecutionRow;
  /** Everything but the terminal event, then the claim of the copy that replays. */
  readonly events: readonly Event[];
  readonly tasks: number;
}

async function record(tasks: number): Promise<History> {
  const created = createdExecution({
    execution_id: "0197f3a0-0000-7000-8000-000000000000",
    namespace: chain.namespace,
    workflow: chain.name,
    version: 1,
    module_hash: "none",
    input: tasks as Encoded,
    trigger: { kind: "api" },
    by: null,
    now: Date.now(),
  });
  const log: Event[] = [{ ...created.event, seq: 1 }];
  const row = claim(created.row, log);
  await runOn(row, log);
  gate(log.pop()?.type === "WORKFLOW_COMPLETED", () => `chain(${tasks}) did not complete`);
  gate(log.length === 2 * tasks + 3, () => `chain(${tasks}) left ${log.length} events`);
  const handedOver: ExecutionRow = { ...row, state: "CREATED", session: null, worker: null };
  return { row: claim(handedOver, log), events: log, tasks };
}

async function replayOnce({ row, events, tasks }: History): Promise<number> {
  const log = [...events];
  const start = performance.now();
  await runOn(row, log);
  const taken = performance.now() - start;
  const added = log.slice(events.length);
  gate(
    added.every((event) => event.type.startsWith("WORKFLOW_")),
    () => `a recorded task ran again: ${added.map((event) => event.type).join(", ")}`,
  );
  const output = added.at(-1)?.value;
  gate(output === tasks, () => `replaying chain(${tasks}) answered ${output}`);
  return taken;
}

function claim(row: ExecutionRow, log: Event[]): ExecutionRow {
  const claimed = decideClaim(row, { worker: "bench", session: "bench", now: Date.now() });
  if (!claimed) throw new Error(`an execution in state ${row.state} could not be claimed`);
  append(log, claimed.events);
  return { ...row, ...claimed.patch };
}

async function runOn(row: ExecutionRow, log: Event[]): Promise<void> {
  const port: ExecutionPort = {
    checkpoint(delta) {
      append(log, JSON.parse(delta.events) as NewEvent[]);
      return Promise.resolve({ kind: "accepted", seq: log.length });
    },
    progress() {},
  };
  const { execution_id, namespace, workflow, version, name, input } = row;
  const running = startExecution(chain, {
    info: { execution_id, namespace, workflow, version, name, input },
    history: [...log],
    limits: LIMITS,
    listen: false,
    port,
    host: nodeHost(),
  });
  const ended = await running.ended;
  gate(ended === "terminal", () => `the copy ended "${ended}"`);
}

function append(log: Event[], events: readonly NewEvent[]): void {
  for (const event of events) log.push({ ...event, seq: log.length + 1 });
}
