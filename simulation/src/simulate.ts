import type { Store } from "@engine/store";
import { memoryValues } from "@engine/store/memory-values";
import { makeAccounts } from "./accounts.ts";
import { Answers } from "./answers.ts";
import { Clients } from "./clients.ts";
import { Clock } from "./clock.ts";
import { Disturbances } from "./disturbances.ts";
import { engineConfig } from "./engine-config.ts";
import type { ActivitySet, Evidence, Fault } from "./evidence.ts";
import { FunctionTime } from "./function-time.ts";
import { gather, isOutboxOpen } from "./gather.ts";
import { withServices } from "./invariants/seen-workers.ts";
import type { LoadedPrograms } from "./load-programs.ts";
import { Network } from "./network.ts";
import { Operations } from "./operations.ts";
import type { Plan } from "./plan.ts";
import { plantedBug } from "./planted-bugs.ts";
import { installProgramPort } from "./programs/program-port.ts";
import { ProgramRecorder } from "./programs/program-recorder.ts";
import type { WorkerSeen } from "./programs/wants.ts";
import { Random } from "./random.ts";
import { Readers } from "./readers.ts";
import { RestWatch } from "./rest-watch.ts";
import { Servers } from "./servers.ts";
import { ServiceUsers } from "./service-users.ts";
import { CommitRecord } from "./store/commit-record.ts";
import { type StoreSource, sqliteSource } from "./store/store-source.ts";
import { Trace } from "./trace.ts";
import { onUncaught } from "./uncaught.ts";
import { runningWorker, Workers } from "./workers.ts";
import { World } from "./world.ts";
import { WriteRecord } from "./write-record.ts";

/** Virtual time in which everything has to come to rest once nothing is broken any more. */
const REST_MS = 600_000;
const UP_MS = 180_000;
/** What is counted when nothing runs is counted after so long. */
const LINGER_MS = 6_000;
/** There and back; and where the store is slow at times. */
const QUESTION_MS = 10;
const SLOW_QUESTION_MS = 3_010;
/** One way; and where some take longer. */
const MESSAGE_MS = 200;
const SLOW_MESSAGE_MS = 4_200;
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
  /** SQLite unless given. */
  readonly source?: StoreSource | undefined;
  readonly isTraced?: boolean;
  /** Of `PLANTED_BUGS`. */
  readonly plant?: string | undefined;
}

/** One run: everything in it follows from the plan. */
export async function simulate(
  plan: Plan,
  { programs, source = sqliteSource(), isTraced = false, plant }: SimulateOptions,
): Promise<Run> {
  const random = new Random(`seed ${plan.seed}`);
  const trace = new Trace(isTraced);
  const world = new World({ random: random.fork("world"), trace, early: plan.rates.early });
  trace.begin(world.now);
  const began_at = world.now;
  const problems: string[] = [];
  const faults: Fault[] = [];
  const activities: ActivitySet[] = [];
  let isRough = true;
  let wholeSince = began_at;
  const note = (fault: Fault) => {
    faults.push(fault);
    wholeSince = Math.max(wholeSince, fault.until ?? fault.at);
  };
  const rough = () => isRough;

  const { pace } = plan.rates;
  const clocks = Array.from({ length: plan.servers }, (_, at) => {
    return new Clock(world, { random: random.fork(`clock of store ${at}`), pace });
  });
  const stores = await source.open({ seed: plan.seed, clocks });
  const store = stores.ofServers[0] as Store;
  const accounts = await makeAccounts(store, plan.accounts, random.fork("accounts"));
  const bug = plant === undefined ? undefined : plantedBug(plant);
  const planted = stores.ofServers.map((one) => bug?.store?.(one) ?? one);
  const values = memoryValues();
  const record = new CommitRecord(world);
  for (const versions of programs.versions) {
    record.registered(null, await store.catalog.register(versions));
  }
  const writes = new WriteRecord(world);
  const config = engineConfig(plan, random.fork("config"));
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
      store: (at) => planted[at] as Store,
      isRealStore: source.kind !== "sqlite",
      offered: (engine) => ({
        protocol: bug?.protocol?.(engine.workers, store) ?? engine.workers,
        engine: bug?.engine?.(engine) ?? engine,
      }),
      values,
      readRegistration: programs.readGuest,
      config,
      faults: { rates, isRough: rough, note },
      record,
      skews: plan.skews,
      pace,
      losesNews: () => news.chance(rates.drop) && isRough,
      isSilent: plan.isSilent,
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
      programs: bug?.programs?.(programs) ?? programs,
      config,
      writes,
      skews: plan.skews.slice(plan.servers),
      pace,
      polls: plan.polls,
      places: plan.places,
    },
    plan.workers,
  );
  const clients = new Clients({
    world,
    random: random.fork("clients"),
    network,
    servers,
    accounts,
  });
  const readers = new Readers({ world, random: random.fork("readers"), network, servers });
  const users = new ServiceUsers({
    world,
    random: random.fork("services"),
    network,
    servers,
    accounts,
    programs,
  });
  const disturbances = new Disturbances({
    world,
    network,
    servers,
    workers,
    clients,
    record,
    accounts,
    bans: plan.hooks.length > 0,
    note,
    isRough: rough,
    activity: (set) => void activities.push(set),
  });
  const functions = new FunctionTime();
  const recorder = new ProgramRecorder({
    now: () => world.now,
    runner(execution_id) {
      const life = runningWorker();
      if (!life?.process.isAlive) return undefined;
      const { process, generations, clock } = life;
      const generation = generations.get(execution_id) ?? 0;
      const of = { worker: process.name, process: process.id, generation };
      return { ...of, clock: clock.shown, latest_clock: clock.latest };
    },
    wait: (ms, signal) => functions.wait(ms, signal),
  });

  const isUp = () =>
    !disturbances.isHolding &&
    everyIndex(servers.count, (at) => servers.isUp(at) && servers.listening(`s${at + 1}`)) &&
    everyIndex(workers.count, (at) => workers.isUp(at));
  const watch = new RestWatch({
    world,
    record,
    workers: () => seenWorkers(workers, record),
    isUp: () => isUp() && !network.isAwaited && !functions.isPassing,
    wholeSince: () => wholeSince,
  });

  const removePort = installProgramPort(recorder);
  const stopListening = onUncaught((what) => void problems.push(what));
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
    for (const description of plan.descriptions) {
      const worker = workers.nameOf(description.target % workers.count);
      world.after(description.at, () => operator.describe(worker, description));
    }
    for (const choice of plan.limits) world.after(choice.at, () => operator.allow(choice));
    for (const choice of plan.hooks) world.after(choice.at, () => operator.hook(choice));
    for (const choice of plan.services) world.after(choice.at, () => users.begin(choice));
    new Answers({
      world,
      record,
      random: random.fork("answers"),
      watch,
      workers,
      clients,
      isRough: rough,
    }).begin();

    const limit = (until: number) => world.now >= until || world.steps > MOST_STEPS;
    await world.run(() => limit(began_at + plan.stretch));
    isRough = false;
    const healing = disturbances.heal();
    let isHealed = false;
    void healing.then(() => {
      isHealed = true;
    });
    void operator.endSchedules();
    await world.run(
      () => (isHealed && waiting === 0 && isUp()) || limit(began_at + plan.stretch + UP_MS),
    );
    calm_at = world.now;
    trace.say("world", () => "is calm: everything is up");
    let restSince: number | undefined;
    const isAtRest = () => {
      const isQuiet = clients.open === 0 && readers.open === 0 && operator.open + users.open === 0;
      // A worker may learn late that what it runs has ended elsewhere.
      const rests = record.open.size === 0 && isQuiet && workers.copies === 0;
      restSince = rests ? (restSince ?? world.now) : undefined;
      return restSince !== undefined && world.now >= restSince + LINGER_MS;
    };
    const over = () => isAtRest() || limit(calm_at + REST_MS);
    let happens = await world.run(over);
    let isOpen = await isOutboxOpen(store, record);
    // What was tried in vain is tried again some time later.
    while (isOpen && happens && !limit(calm_at + REST_MS)) {
      restSince = undefined;
      happens = await world.run(over);
      isOpen = await isOutboxOpen(store, record);
    }
    if (isOpen || !isAtRest()) stuck = whyStuck();
    if (!happens) stuck ??= "nothing is left to happen";
  } catch (error) {
    problems.push(
      `an exception ended the run: ${error instanceof Error ? error.stack : String(error)}`,
    );
  } finally {
    stopListening();
    removePort();
  }
  const evidence = await gather({
    base: {
      seed: plan.seed,
      began_at,
      calm_at,
      ended_at: world.now,
      stuck,
      servers: plan.servers,
      hop_limit: plan.hop_limit,
      drains_at_once: servers.drainsAtOnce,
    },
    store,
    values,
    record,
    writes,
    recorder,
    clients,
    readers,
    users,
    workers,
    watch,
    faults,
    activities,
    accounts,
    longest: {
      longest_question: rates.store_slow > 0 ? SLOW_QUESTION_MS : QUESTION_MS,
      longest_message: rates.delay > 0 ? SLOW_MESSAGE_MS : MESSAGE_MS,
    },
  });
  await stores.close();
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

function seenWorkers(workers: Workers, record: CommitRecord): readonly WorkerSeen[] {
  return Array.from({ length: workers.count }, (_, at) => {
    const worker = workers.nameOf(at);
    const { labels, services } = workers.life(at)?.shows ?? { labels: {}, services: [] };
    const { metadata, granted } = record.held(worker);
    return { worker, metadata, labels: withServices(labels, services, granted) };
  });
}

function everyIndex(count: number, holds: (at: number) => unknown): boolean {
  return Array.from({ length: count }, (_, at) => at).every((at) => holds(at));
}
