import { authSwitch } from "@engine/contract";
import { maskEnvelopes } from "@engine/redaction";
import { readInProcess } from "@engine/sources";
import { ExecutionSeals } from "@engine/store";
import { Accounts } from "./auth/accounts.ts";
import { ApiKeys } from "./auth/api-keys.ts";
import { EpochWatch } from "./auth/epoch-watch.ts";
import { ExecutionTokens } from "./auth/execution-tokens.ts";
import { Identities } from "./auth/identities.ts";
import { Principals } from "./auth/principals.ts";
import { Roles } from "./auth/roles.ts";
import { RunAs } from "./auth/run-as.ts";
import { RunLists } from "./auth/run-lists.ts";
import { Catalog } from "./catalog/catalog.ts";
import { CallResolver } from "./children/call-resolver.ts";
import { callsUnder } from "./children/calls-under.ts";
import { Commits } from "./commits.ts";
import { Dispatcher } from "./dispatch/dispatcher.ts";
import type { OpenHidden } from "./dispatch/group.ts";
import type { Domain } from "./domain.ts";
import type { EnginePorts, InnerPorts } from "./engine-ports.ts";
import { every } from "./every.ts";
import { Executions } from "./executions/executions.ts";
import { Followers } from "./executions/followers.ts";
import { LargeInputs } from "./executions/large-inputs.ts";
import { PrincipalRefs } from "./executions/principal-refs.ts";
import { TakeOvers } from "./executions/take-overs.ts";
import { Waiters } from "./executions/waiters.ts";
import { DeliveryTries } from "./hooks/delivery-tries.ts";
import { Drain } from "./hooks/drain.ts";
import { HookDeclarations } from "./hooks/hook-declarations.ts";
import { readHooksOnNews } from "./hooks/hook-news.ts";
import { Hooks } from "./hooks/hooks.ts";
import { Lineages } from "./hooks/lineages.ts";
import { TargetJudge } from "./hooks/target-judge.ts";
import { TestFires } from "./hooks/test-fires.ts";
import { Deadlocks } from "./limits/deadlocks.ts";
import { Limits } from "./limits/limits.ts";
import { ProgressHub } from "./progress/progress-hub.ts";
import { Bus } from "./replicas/bus.ts";
import type { RowNews } from "./replicas/bus-message.ts";
import { ChangeNews } from "./replicas/change-news.ts";
import { Leadership } from "./replicas/leadership.ts";
import { Replicas } from "./replicas/replicas.ts";
import { Retention } from "./retention/retention.ts";
import type { AuthorizeSchedule } from "./schedules/authorize-schedule.ts";
import { Firing } from "./schedules/firing.ts";
import { RoutingSeals } from "./schedules/routing-seals.ts";
import { ScheduleChanges } from "./schedules/schedule-changes.ts";
import { ScheduleDeclarations } from "./schedules/schedule-declarations.ts";
import { ScheduledStarts } from "./schedules/scheduled-starts.ts";
import { Scheduler } from "./schedules/scheduler.ts";
import { Schedules } from "./schedules/schedules.ts";
import { Configs } from "./secrets/configs.ts";
import { KeyRotation } from "./secrets/key-rotation.ts";
import { MaskSets } from "./secrets/mask-set.ts";
import { Secrets } from "./secrets/secrets.ts";
import { ServiceViews } from "./services/service-views.ts";
import { Services } from "./services/services.ts";
import { Starts } from "./starts/starts.ts";
import { openPlacement } from "./starts/stored-routing.ts";
import { Timers } from "./timers/timers.ts";
import { DryRuns } from "./why/dry-run.ts";
import { ownerOf } from "./why/owner.ts";
import { Whys } from "./why/why.ts";
import { Admissions } from "./workers/admissions.ts";
import { Attributes } from "./workers/attributes.ts";
import { Fleet } from "./workers/fleet.ts";
import { Grants } from "./workers/grants.ts";
import { HandOvers } from "./workers/hand-over.ts";
import { Liveness } from "./workers/liveness.ts";
import { Repeats } from "./workers/repeats.ts";
import { RevokedSessions } from "./workers/revoked-sessions.ts";
import { SessionLookup } from "./workers/session-lookup.ts";
import { Sessions } from "./workers/sessions.ts";
import { TaskValues } from "./workers/task-values.ts";
import { Workers } from "./workers/workers.ts";

/** The engine without a network: what HTTP carries, and what a worker in this process calls. */
export interface Engine {
  readonly executions: Executions;
  readonly catalog: Catalog;
  readonly services: Services;
  readonly schedules: Schedules;
  readonly hooks: Hooks;
  readonly workers: Workers;
  readonly fleet: Fleet;
  readonly whys: Whys;
  /** What is known of limits, and when a place comes back. */
  readonly limits: Limits;
  readonly dryRuns: DryRuns;
  readonly attributes: Attributes;
  readonly declarations: ScheduleDeclarations;
  readonly runLists: RunLists;
  readonly accounts: Accounts;
  /** What was changed of what is kept in memory, on whichever server. */
  readonly epochs: EpochWatch;
  readonly identities: Identities;
  readonly runAs: RunAs;
  readonly takeOvers: TakeOvers;
  /** With which tasks call the engine; undefined with authorization off. */
  readonly tokens: ExecutionTokens | undefined;
  readonly roles: Roles;
  readonly principals: Principals;
  readonly apiKeys: ApiKeys;
  readonly secrets: Secrets;
  readonly configs: Configs;
  /** What is masked in whatever is read. */
  readonly masks: MaskSets;
  readonly keyRotation: KeyRotation;
  /** Whether other servers serve the same database now. */
  readonly hasPeers: boolean;
  /** Takes up what an earlier life of this server left. Nothing is assigned before it. */
  start(): Promise<void>;
  /** Answers every wait, ends every stream, sends the workers away. The store stays open. */
  close(): Promise<void>;
}

/** Makes every part once, each from parts that exist already, and puts the domains into their order. */
export function createEngine(given: EnginePorts): Engine {
  const seals = new ExecutionSeals(given.ring, given.store.executionKeys);
  const ports: InnerPorts = { ...given, seals };
  const { store, setTimer, config, log } = ports;
  const commits = new Commits({ store, log });
  const bus = new Bus(ports);
  const replicas = new Replicas({ ports, bus });
  const leadership = new Leadership(ports);
  const epochs = new EpochWatch({ ports, bus, replicas });
  const identities = new Identities({ ports, epochs });
  const news = new ChangeNews({ bus, replicas, setTimer });

  const masks = new MaskSets({ ports, epochs });
  const masksChanged = () => {
    epochs.raised("masks");
    return masks.current();
  };
  const secrets = new Secrets({ ports, changed: masksChanged });

  const changes = new ScheduleChanges(bus);
  // Registering writes schedules, but the scheduler is made later: it needs the catalog.
  const changed = () => changes.tell();
  const declarations = new ScheduleDeclarations({ ports, changed });
  const hookDeclarations = new HookDeclarations(ports);
  const { readRegistration: read = readInProcess } = ports;
  const catalog = new Catalog({
    ...{ store, schedules: declarations, read, bus, epochs, canSeal: ports.ring !== undefined },
    hooks: hookDeclarations,
    knownSecrets: (names) => secrets.known(names),
  });

  const sessions = new Sessions(ports);
  const handOvers = new HandOvers({ ports, commits });
  const liveness = new Liveness({ ports, sessions, handOvers, replicas });
  const lookup = new SessionLookup({ ports, sessions, liveness });
  const repeats = new Repeats({ ports, sessions });
  const { enabled, progress: masksProgress } = config.security.redaction;
  const progress = new ProgressHub({
    ...{ ports, bus, replicas, sessions },
    masks: enabled && masksProgress ? masks : undefined,
  });
  const waiters = new Waiters(ports);
  const refs = new PrincipalRefs(ports);
  const { isOn } = authSwitch(config.security.auth);
  const runAs = new RunAs({ isOn, ports, identities, epochs });
  const { tokenKeys: keys } = ports;
  const tokens = isOn && keys ? new ExecutionTokens({ ports, keys, runAs }) : undefined;
  const grants = new Grants({ ports, sessions, runAs });
  const followers = new Followers({ ports, progress, replicas, refs });

  const deadlocks = new Deadlocks({ ports, commits });
  const limits = new Limits({ ports, bus, replicas, deadlocks });

  const rights = { runAs, tokens, grants, limits };
  const served = {
    ports,
    commits,
    sessions,
    catalog,
    progress,
    replicas,
    lookup,
    handOvers,
    ...rights,
  };
  const configs = new Configs(ports);
  const openHidden: OpenHidden = (hidden) => {
    try {
      return openPlacement(ports.ring, hidden);
    } catch (error) {
      log.error({ err: error }, "terms of a routing input do not open: no worker matches them");
      return undefined;
    }
  };
  const dispatcher = new Dispatcher({ ...served, openHidden });
  const inputs = new LargeInputs(ports);
  const create: Dispatcher["create"] = (fresh) => dispatcher.create(fresh);
  const starts = new Starts({ ports, catalog, inputs, create });
  const runLists = new RunLists({ ports, catalog });
  const { authorizeCall = isOn ? callsUnder({ runAs, runLists }) : undefined } = ports;
  const calls = new CallResolver({ ports: { ...ports, authorizeCall }, catalog, starts });
  const admissions = new Admissions({ ports, epochs });
  const values = new TaskValues({ catalog, secrets, configs });
  const admitted = { bus, admissions, values };
  const workers = new Workers({ ...served, dispatcher, calls, liveness, repeats, ...admitted });

  const hasWorker: Dispatcher["isMatched"] = (row) => dispatcher.isMatched(row);
  const waitsFor: Dispatcher["waitsFor"] = (row) => dispatcher.waitsFor(row);
  const followed = { waiters, followers, calls, inputs, refs };
  const lineages = new Lineages({ ports, areChecked: isOn });
  const started = { starts, lineages };
  const executions = new Executions({
    ports,
    commits,
    catalog,
    hasWorker,
    ...started,
    ...followed,
  });

  const accounts = new Accounts({ ports, runLists, areChecked: isOn });
  const permitted: AuthorizeSchedule = (schedule) => accounts.permitted(schedule.run_as, schedule);
  const { authorizeSchedule = isOn ? permitted : undefined } = ports;
  const routing = new RoutingSeals(ports);
  const scheduled = new ScheduledStarts({ starts, routing, authorize: authorizeSchedule });
  const cancel = (execution_id: string, reason: string) =>
    executions.cancel({ execution_id, reason, by: null });
  const firing = new Firing({ ports, starts: scheduled, cancel });
  const scheduler = new Scheduler({ ports, firing });
  changes.listen(() => void scheduler.wake());
  const schedules = new Schedules({ ports, routing, starts: scheduled, changed });

  const services = new Services({
    ports,
    views: new ServiceViews({ ports, epochs, catalog }),
    changed: () => epochs.raised("services"),
  });

  const judge = new TargetJudge({ ports, accounts });
  const tries = new DeliveryTries({ ports, starts, judge });
  const drain = new Drain({ ports, bus, replicas, tries });
  maskEnvelopes({ outbox: store.outbox, masks, monotonic: ports.monotonic });
  readHooksOnNews({ ports, epochs });
  const hooksChanged = async () => {
    try {
      await store.outbox.refresh();
    } finally {
      // It is written, whether or not it could be read here.
      epochs.raised("hooks");
      drain.wake();
    }
  };
  hookDeclarations.onChange(hooksChanged);
  const hooks = new Hooks({
    ports,
    judge,
    tests: new TestFires({ ports, starts, masks }),
    changed: hooksChanged,
    retried: () => drain.wake(),
  });

  const identityChanged = () => epochs.raised("identity");
  const principals = new Principals({ ports, changed: identityChanged });

  const keyRotation = new KeyRotation({ ports, bus, replicas });

  const domains: readonly Domain[] = [
    inputs,
    catalog,
    workers,
    new RevokedSessions({ ports, sessions, handOvers, liveness, epochs }),
    // Hears of commits before the dispatcher, which looks for free slots by what sessions own.
    sessions,
    grants,
    progress,
    waiters,
    followers,
    limits,
    new Timers({ ports, commits, hasWorker, waitsFor }),
    dispatcher,
    { led: new Retention({ ports, epochs }) },
    masks,
    keyRotation,
    routing,
    scheduler,
    drain,
  ];

  // The other servers hear last.
  for (const domain of [...domains, news]) listen(domain);
  bus.listen((message) => {
    if (message.kind === "rows") tellNews(message.rows);
  });
  bus.onMissed(() => void look());

  let isClosed = false;
  let cancelTick: (() => void) | undefined;

  return {
    get hasPeers() {
      return replicas.hasPeers;
    },
    executions,
    catalog,
    services,
    schedules,
    hooks,
    workers,
    declarations,
    runLists,
    accounts,
    runAs,
    tokens,
    epochs,
    identities,
    takeOvers: new TakeOvers({ ports, executions, accounts, runLists }),
    secrets,
    configs,
    masks,
    keyRotation,
    roles: new Roles({ ports, changed: identityChanged }),
    principals,
    apiKeys: new ApiKeys({ ports, principals, changed: identityChanged }),
    fleet: new Fleet({ ports, sessions, bus }),
    dryRuns: new DryRuns({ catalog, prospects: (of) => dispatcher.prospects(of) }),
    limits,
    whys: new Whys({
      ports,
      outlook: (row) => dispatcher.outlook(row),
      owner: (row) => ownerOf(row, { store, sessions }),
    }),
    attributes: new Attributes({ ports, sessions, bus }),
    async start() {
      await bus.start();
      await replicas.start();
      for (const domain of domains) await domain.recover?.();
      await leadership.start();
      if (isClosed) return;
      cancelTick = every(setTimer, { ms: config.dispatch.safety_interval * 1000 }, look);
    },
    async close() {
      isClosed = true;
      cancelTick?.();
      for (const domain of domains.toReversed()) await domain.close?.();
      news.flush();
      await leadership.close();
      await replicas.close();
      bus.close();
    },
  };

  function listen(domain: Domain): void {
    if (domain.onCommit) commits.listen(domain.onCommit.bind(domain));
    if (domain.afterwards) commits.afterwards(domain.afterwards.bind(domain));
    if (domain.led) leadership.add(domain.led);
  }

  function tellNews(rows: readonly RowNews[]): void {
    for (const domain of domains) void hear(domain, rows);
    for (const domain of domains) domain.afterwards?.();
  }

  async function hear(domain: Domain, rows: readonly RowNews[]): Promise<void> {
    try {
      await domain.onNews?.(rows);
    } catch (error) {
      log.debug({ err: error }, "could not read what another server wrote; the safety tick does");
    }
  }

  async function look(): Promise<void> {
    const looks = domains.map(async (domain) => domain.refresh?.());
    for (const look of await Promise.allSettled(looks)) {
      if (look.status === "rejected") log.error({ err: look.reason }, "the safety tick failed");
    }
  }
}
