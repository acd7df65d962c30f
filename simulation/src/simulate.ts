import type { ExecutionRow } from "@engine/contract";
import { openSqliteStore } from "@engine/store";
import { memoryValues } from "@engine/store/memory-values";
import { Clients } from "./clients.ts";
import { Disturbances } from "./disturbances.ts";
import type { ActivitySet, Evidence, Fault } from "./evidence.ts";
import { gather } from "./gather.ts";
import type { LoadedPrograms } from "./load-programs.ts";
import { Network } from "./network.ts";
import { Operations } from "./operations.ts";
import type { Plan } from "./plan.ts";
import { plantedBug } from "./planted-bugs.ts";
import { installProgramPort } from "./programs/program-port.ts";
import { ProgramRecorder } from "./programs/program-recorder.ts";
import { Random } from "./random.ts";
import { Readers } from "./readers.ts";
import { Servers } from "./servers.ts";
import { CommitRecord } from "./store/commit-record.ts";
import { Trace } from "./trace.ts";
import { runningWorker, Workers } from "./workers.ts";
import { World } from "./world.ts";
import { WriteRecord } from "./write-record.ts";

/** Virtual time in which everything has to come to rest once nothing is broken any more. */
const REST_MS = 600_000;
const UP_MS = 180_000;
/** What is counted when nothing runs is counted after so long. */
const LINGER_MS = 6_000;
const ANSWER_EVERY_MS = 1_500;
const MOST_STEPS = 300_000;

export interface Run {
  readonly evidence: Evidence;
  readonly trace: readonly string[];
  readonly steps: number;
  /** What the harness saw that nothing may do: promises without anybody, exceptions without a catch. */
  readonly problems: readonly string[];
  /** The short name of an execution in the trace. */
  names(execution_id: string): string;
}

export interface SimulateOptions {
  readonly programs: LoadedPrograms;
  readonly isTraced?: boolean;
  /** Of `PLANTED_BUGS`. */
  readonly plant?: string | undefined;
}

/** One run: everything in it follows from the plan. */
export async function simulate(
  plan: Plan,
  { programs, isTraced = false, plant }: SimulateOptions,
): Promise<Run> {
  const random = new Random(`seed ${plan.seed}`);
  const trace = new Trace(isTraced);
  const world = new World({ random: random.fork("world"), trace });
  trace.begin(world.now);
  const began_at = world.now;
  const problems: string[] = [];
  const faults: Fault[] = [];
  const activities: ActivitySet[] = [];
  let isRough = true;
  const note = (fault: Fault) => void faults.push(fault);
  const rough = () => isRough;

  const store = await openSqliteStore({
    path: ":memory:",
    synchronous: "normal",
    clock: () => Math.floor(world.now),
  });
  for (const versions of programs.versions) await store.registerVersions(versions);
  const bug = plant === undefined ? undefined : plantedBug(plant);
  const values = memoryValues();
  const record = new CommitRecord(world);
  const writes = new WriteRecord(world);
  const config = configOf(plan, random.fork("config"));
  const { rates } = plan;
  const news = random.fork("news");

  const network = new Network({
    world,
    random: random.fork("network"),
    rates,
    isRough: rough,
    listening: (address) => servers.listening(address),
    note,
  });
  const servers: Servers = new Servers(
    {
      world,
      random: random.fork("servers"),
      network: () => network,
      store: bug?.store?.(store) ?? store,
      spoilt: (protocol) => bug?.protocol?.(protocol, store) ?? protocol,
      values,
      config,
      faults: { rates, isRough: rough, note },
      record,
      skews: plan.skews,
      losesNews: () => news.chance(rates.drop) && isRough,
      problem: (what) => void problems.push(what),
    },
    plan.servers,
  );
  const workers = new Workers(
    {
      world,
      random: random.fork("workers"),
      network: () => network,
      addresses: () => servers.addresses,
      programs,
      config,
      writes,
      skews: plan.skews.slice(plan.servers),
      polls: plan.polls,
    },
    plan.workers,
  );
  const clients = new Clients({ world, random: random.fork("clients"), network, servers });
  const readers = new Readers({ world, random: random.fork("readers"), network, servers });
  const disturbances = new Disturbances({
    world,
    network,
    servers,
    workers,
    clients,
    note,
    isRough: rough,
    activity: (set) => void activities.push(set),
  });
  const recorder = new ProgramRecorder({
    now: () => world.now,
    runner(execution_id) {
      const life = runningWorker();
      if (!life?.process.isAlive) return undefined;
      const { process, generations } = life;
      const generation = generations.get(execution_id) ?? 0;
      return { worker: process.name, process: process.id, generation, clock: process.clock() };
    },
    wait: waitInWorker,
  });

  const removePort = installProgramPort(recorder);
  const onRejection = (reason: unknown) =>
    void problems.push(
      `nobody handles a rejection: ${reason instanceof Error ? reason.stack : String(reason)}`,
    );
  process.on("unhandledRejection", onRejection);
  let [calm_at, stuck]: [number, string | null] = [began_at, null];
  const operator = new Operations({ clients, readers, random: random.fork("programs"), plan });
  try {
    for (let at = 0; at < plan.servers; at++) servers.start(at);
    for (let at = 0; at < plan.workers; at++) workers.start(at);
    for (const disturbance of plan.disturbances) {
      world.after(disturbance.at, () => disturbances.begin(disturbance));
    }
    let waiting = plan.operations.length;
    for (const operation of plan.operations) {
      world.after(operation.at, () => {
        waiting--;
        operator.begin(operation);
      });
    }
    const answers = random.fork("answers");
    const answer = () => {
      world.after(ANSWER_EVERY_MS, answer);
      for (const row of record.open.values()) {
        if (!isRough || answers.chance(0.4)) answerWaits(row, clients, answers);
      }
    };
    answer();

    const limit = (until: number) => world.now >= until || world.steps > MOST_STEPS;
    await world.run(() => limit(began_at + plan.stretch));
    isRough = false;
    const healing = disturbances.heal();
    let isHealed = false;
    void healing.then(() => {
      isHealed = true;
    });
    void operator.endSchedules();
    const isUp = () =>
      isHealed &&
      waiting === 0 &&
      everyIndex(servers.count, (at) => servers.isUp(at) && servers.listening(`s${at + 1}`)) &&
      everyIndex(workers.count, (at) => workers.isUp(at));
    await world.run(
      () => isUp() || limit(world.now) || world.now >= began_at + plan.stretch + UP_MS,
    );
    calm_at = world.now;
    trace.say("world", () => "is calm: everything is up");
    let restSince: number | undefined;
    const isAtRest = () => {
      const isQuiet = clients.open === 0 && readers.open === 0 && operator.open === 0;
      // A worker may learn late that what it runs has ended elsewhere.
      const rests = record.open.size === 0 && isQuiet && workers.copies === 0;
      restSince = rests ? (restSince ?? world.now) : undefined;
      return restSince !== undefined && world.now >= restSince + LINGER_MS;
    };
    const over = () => isAtRest() || limit(calm_at + REST_MS);
    const happens = await world.run(over);
    if (!isAtRest()) stuck = whyStuck();
    if (!happens) stuck ??= "nothing is left to happen";
  } catch (error) {
    problems.push(
      `an exception ended the run: ${error instanceof Error ? error.stack : String(error)}`,
    );
  } finally {
    process.off("unhandledRejection", onRejection);
    removePort();
  }
  const evidence = await gather({
    base: { seed: plan.seed, began_at, calm_at, ended_at: world.now, stuck, servers: plan.servers },
    store,
    values,
    record,
    writes,
    recorder,
    clients,
    readers,
    workers,
    faults,
    activities,
  });
  await store.close();
  const names = (execution_id: string) => trace.name(execution_id);
  return { evidence, trace: trace.lines, steps: world.steps, problems, names };

  function whyStuck(): string {
    const left = [...record.open.values()].map(
      ({ execution_id, state, worker, session, wake_at, waits }) =>
        `${trace.name(execution_id)} ${state} ${session === null ? "without an owner" : `of ${worker}`}` +
        ` (wake_at ${wake_at}, waits ${waits.map(({ kind }) => kind).join(" ") || "none"})`,
    );
    const open = `${clients.open} requests, ${readers.open} readers, ${workers.copies} copies`;
    const steps = world.steps > MOST_STEPS ? `more than ${MOST_STEPS} happenings; ` : "";
    return `${steps}not at rest: ${left.join(", ") || "no execution"}; open: ${open}, ${operator.open} operations`;
  }
}

function configOf(plan: Plan, random: Random): unknown {
  return {
    executions: { cancel_timeout: 30, inline_value_bytes: 4096, rollback_timeout: 5 },
    workers: {
      slots: plan.slots,
      runners: ["inline"],
      default_runner: "inline",
      heartbeat_interval: 4,
      silence_timeout: 12,
      claim_timeout: 5,
      drain_timeout: 8,
      cancel_grace: 5,
      checkpoint_lanes: 1 + random.below(2),
      warm_executions: random.pick([0, 1, 256]),
    },
    dispatch: { mode: plan.polls ? "poll" : "event", safety_interval: 10, batch_size: 8 },
  };
}

/** Time passes for the code that calls; never again once its process is dead. */
function waitInWorker(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const life = runningWorker();
  if (!life) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const abort = () => {
      cancel();
      reject(signal?.reason as Error);
    };
    const cancel = life.process.setTimer(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, ms);
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true });
  });
}

/** Somebody answers what waits for an answer, sometimes two at a time. */
function answerWaits(row: ExecutionRow, clients: Clients, random: Random): void {
  for (const wait of row.waits) {
    const times = random.chance(0.2) ? 2 : 1;
    for (let i = 0; i < times; i++) {
      if (wait.kind === "pause") void clients.resume(row.execution_id, wait.task_call_id);
      if (wait.kind === "signal") void clients.signal(row.execution_id, wait.name);
    }
  }
}

function everyIndex(count: number, holds: (at: number) => unknown): boolean {
  return Array.from({ length: count }, (_, at) => at).every((at) => holds(at));
}
