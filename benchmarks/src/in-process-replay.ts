import {
  Config,
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
import { median, percentile } from "./stats.ts";
import { count, ms } from "./table.ts";
import { costPerTask, type TimeOfTasks } from "./task-cost.ts";
import { chain } from "./workflows/bench-workflows.ts";

/** 5,000 tasks are 10,000 events. */
const TASKS = [100, 1_000, 5_000, 10_000];
const { executions: LIMITS } = Config.parse({});

/** The replay core alone: a recorded history in memory, no worker, no network, no database. */
export const inProcessReplay: Measure = {
  name: "in-process-replay",
  means: "the replay core alone, 200 to 20,000 events",
  stores: ["sqlite"],
  async run(bench) {
    const figures: Record<string, number> = {};
    const samples: Record<string, number[]> = {};
    const rows: string[][] = [];
    const medians: TimeOfTasks[] = [];
    // Else the shortest history would pay for the compiler.
    const first = await record(1_000);
    for (let i = 0; i < (bench.quick ? 3 : 20); i++) await replayOnce(first);
    for (const tasks of TASKS) {
      const history = await record(tasks);
      const taken: number[] = [];
      for (let i = 0; i < (bench.quick ? 3 : 15); i++) taken.push(await replayOnce(history));
      const [p50, p99] = [median(taken), percentile(taken, 99)];
      medians.push({ tasks, ms: p50 });
      figures[`${2 * tasks}_events_ms`] = p50;
      samples[`${2 * tasks}_events_ms`] = taken;
      rows.push([`${count(2 * tasks)} events`, count(tasks), ms(p50), ms(p99), `${taken.length}`]);
    }
    const cost = costPerTask(medians);
    return {
      tables: [
        {
          title: "Replay core alone, in one process",
          columns: ["log", "tasks", "p50", "p99", "samples"],
          rows,
        },
        cost.table,
      ],
      figures: { ...figures, ...cost.figures },
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
    seed: "bench",
    now: Date.now(),
  });
  const log: Event[] = [];
  append(log, created.events);
  const row = claim(created.row, log);
  await runOn(row, log);
  gate(log.pop()?.type === "WORKFLOW_COMPLETED", () => `chain(${tasks}) did not complete`);
  const done = log.filter(({ type }) => type === "TASK_COMPLETED").length;
  gate(done === tasks, () => `chain(${tasks}) completed ${done} tasks`);
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
    services: NO_SERVICES,
    checkpoint(delta) {
      append(log, JSON.parse(delta.events) as NewEvent[]);
      return Promise.resolve({ kind: "accepted", seq: log.length });
    },
    progress() {},
  };
  const { execution_id, namespace, workflow, version, name, input, seed } = row;
  const running = startExecution(chain, {
    info: {
      ...{ execution_id, namespace, workflow, version, name, input, seed },
      parent_id: null,
      transient: false,
      bundle: null,
    },
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

const unused = () => Promise.reject(new Error("no task of this workflow asks for it"));
const NO_SERVICES: ExecutionPort["services"] = {
  lookUp: unused,
  keep: unused,
  saveValue: unused,
  loadValue: unused,
  secrets: unused,
  configs: unused,
};
