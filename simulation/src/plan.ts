import { type Description, descriptionsOf } from "./descriptions.ts";
import { type HookChoice, hookChoicesOf } from "./hook-choices.ts";
import { type LimitChoice, limitChoicesOf } from "./limit-choices.ts";
import type { Bounds } from "./programs/counts.ts";
import { GUEST, GUEST_NAMESPACES, GUEST_TEXTS } from "./programs/guest-source.ts";
import { PROGRAM_WORKFLOWS } from "./programs/program-source.ts";
import { Random } from "./random.ts";

/**
 * How likely what is broken on the way of a message, a write or a stream is, and how the time passes in
 * which it happens. 0: never.
 */
export interface Rates {
  /** A message is lost; who waits for the answer notices by the time it takes, or is told soon. */
  readonly drop: number;
  /** A request arrives once more, later. */
  readonly duplicate: number;
  /** A message takes up to some seconds, so that others overtake it. */
  readonly delay: number;
  /** A stream breaks before its next frame; half of them without one side noticing. */
  readonly cut: number;
  /** A transaction fails before anything was written. */
  readonly store_error: number;
  /** A transaction was committed, and its answer says that it failed. */
  readonly store_unknown: number;
  /** A transaction or a read takes up to a second. */
  readonly store_slow: number;
  /** Something happens while what happened before it is not yet done with. No fault: always. */
  readonly early: number;
  /** Milliseconds that a clock moves by at the most from one reading to the next. No fault: always. */
  readonly pace: number;
}

/** Something that is done to a process at a moment, counted from the beginning. */
export interface Disturbance {
  readonly at: number;
  readonly kind:
    | "kill_worker"
    | "kill_server"
    | "stall_worker"
    | "stall_server"
    | "drain_worker"
    | "stop_server"
    | "partition"
    | "clock_jump"
    | "pause_worker"
    | "bar_account"
    | "revoke_worker";
  /** Which of the workers or servers. */
  readonly target: number;
  /** How long it lasts, or after what time the next life begins. */
  readonly ms: number;
  /** Something else about it, from 0 to below 1. */
  readonly drawn: number;
}

/** Something that a client does at a moment. */
export interface Operation {
  readonly at: number;
  readonly kind:
    | "start"
    | "get"
    | "wait"
    | "follow"
    | "cancel"
    | "signal"
    | "resume"
    | "fork"
    | "events"
    | "schedule";
  /** Of a start: which program. Else: which of the executions there are by then. */
  readonly target: number;
  readonly drawn: number;
}

/** A change of the service, or of what there is for it, and requests for what it offers around it. */
export interface ServiceChoice {
  readonly at: number;
  readonly deed:
    | "include"
    | "exclude"
    | "delete"
    /** A version of a guest, which may be its first or the one there is. */
    | "register"
    /** Its latest version is deleted: the one before it, if there is one, comes back. */
    | "retire"
    | "unregister";
  readonly namespace: string;
  readonly workflow: string;
  /** Of the text that is registered. */
  readonly number: number;
}

/** Everything about a run that is not left to chance while it goes on. */
export interface Plan {
  readonly seed: number;
  readonly servers: number;
  readonly workers: number;
  readonly slots: number;
  /** Milliseconds during which things break. */
  readonly stretch: number;
  readonly programs: number;
  readonly skews: readonly number[];
  readonly polls: boolean;
  /** Service accounts whose rights executions have; 0: authorization is off. */
  readonly accounts: number;
  readonly rates: Rates;
  readonly disturbances: readonly Disturbance[];
  readonly operations: readonly Operation[];
  /** None in most runs. */
  readonly services: readonly ServiceChoice[];
  /** Whether workflows ask for something of their workers, and workers have something to show. */
  readonly places: boolean;
  /** Whether only so many executions of some workflows are at work at a time. */
  readonly counts: boolean;
  /** Which kind of bounds some workflows have where none is placed; undefined in most runs. */
  readonly bounds: Bounds | undefined;
  /** What operators allow meanwhile. */
  readonly limits: readonly LimitChoice[];
  /** What is done to hooks; none in most runs. */
  readonly hooks: readonly HookChoice[];
  /** Hooks that may fire in a chain. */
  readonly hop_limit: number;
  /** Whether starts name the worker that they are to have. */
  readonly requires: boolean;
  /** Metadata and grants of workers; none in half of the runs. */
  readonly descriptions: readonly Description[];
  /** No server hears of services and workflows that another one has changed: in half of the runs with any. */
  readonly isSilent: boolean;
}

type FaultRates = Omit<Rates, "early" | "pace">;

const RATES: Readonly<Record<keyof FaultRates, readonly number[]>> = {
  drop: [0.005, 0.03, 0.1],
  duplicate: [0.01, 0.05, 0.15],
  delay: [0.02, 0.1, 0.25],
  cut: [0.01, 0.05, 0.15],
  store_error: [0.005, 0.02, 0.08],
  store_unknown: [0.005, 0.02, 0.08],
  store_slow: [0.02, 0.1],
};

const EARLY = [0.1, 0.4, 0.8];
const PACES = [0.3, 1, 3];

/** Per minute of the stretch, at the most. */
const DISTURBANCES = {
  kill_worker: 8,
  kill_server: 4,
  stall_worker: 4,
  stall_server: 3,
  drain_worker: 2,
  stop_server: 2,
  partition: 4,
  clock_jump: 3,
  pause_worker: 2,
};

/** The same, where authorization is on. */
const OF_RIGHTS = { bar_account: 24, revoke_worker: 3 };

type Most = Readonly<Partial<Record<Disturbance["kind"], number>>>;

const OPERATIONS: readonly (readonly [Operation["kind"], number])[] = [
  ["get", 9],
  ["wait", 6],
  ["follow", 12],
  ["cancel", 6],
  ["signal", 9],
  ["resume", 9],
  ["fork", 3],
  ["events", 9],
  ["schedule", 1],
];

/** Of a kind of fault half of the seeds have nothing, and some seeds have none at all; clocks move in all. */
export function planOf(seed: number): Plan {
  const random = new Random(`seed ${seed}`).fork("plan");
  const isCalm = random.chance(0.1);
  const stretch = Math.round(random.between(5_000, 45_000));
  const servers = random.chance(0.4) ? 1 : random.chance(0.8) ? 2 : 3;
  const workers = 1 + random.below(3);
  const programs = 1 + random.below(4);
  const rights = random.fork("rights");
  const accounts = rights.chance(1 / 3) ? 2 + rights.below(2) : 0;
  const rates = Object.fromEntries(
    Object.entries(RATES).map(([kind, levels]) => {
      const level = random.pick(levels);
      return [kind, random.chance(0.5) || isCalm ? 0 : level];
    }),
  ) as unknown as FaultRates;
  const time = random.fork("time");
  const early = time.chance(0.25) ? 0 : time.pick(EARLY);
  const pace = time.pick(PACES);
  const ofServices = random.fork("services");
  const services = servicesOf(ofServices, stretch);
  const descriptions = descriptionsOf(random.fork("descriptions"), stretch);
  const placing = random.fork("places");
  const places = descriptions.length > 0 ? placing.chance(0.7) : placing.chance(0.2);
  const bounds = places ? undefined : boundsOf(random.fork("bounds"));
  const ofHooks = random.fork("hooks");
  const hop_limit = ofHooks.pick([1, 1, 2, 3]);
  const hooks = ofHooks.chance(0.25) ? hookChoicesOf(ofHooks, { stretch, hop_limit }) : [];
  const skewed = random.chance(0.3) && !isCalm;
  const skews = Array.from({ length: servers + workers }, () =>
    skewed ? Math.round(random.between(-3_000, 3_000)) : 0,
  );
  return {
    seed,
    servers,
    workers,
    slots: random.pick([1, 2, 4, 8]),
    stretch,
    programs,
    skews,
    polls: random.chance(0.15),
    accounts,
    rates: { ...rates, early, pace },
    disturbances: [
      ...disturbancesOf(random.fork("disturbances"), DISTURBANCES, { stretch, servers, isCalm }),
      // Behind the others, which keep their numbers whether or not authorization is on.
      ...(accounts > 0 ? disturbancesOf(rights, OF_RIGHTS, { stretch, servers, isCalm }) : []),
    ],
    operations: operationsOf(random.fork("operations"), stretch, programs),
    services,
    places,
    counts: random.fork("counts").chance(0.3),
    bounds,
    limits: bounds === "named" ? limitChoicesOf(random.fork("limits"), stretch) : [],
    hooks,
    hop_limit,
    requires: random.fork("requires").chance(0.2),
    descriptions,
    isSilent: services.length > 0 && ofServices.chance(0.5),
  };
}

function disturbancesOf(
  random: Random,
  kinds: Most,
  { stretch, servers, isCalm }: { stretch: number; servers: number; isCalm: boolean },
): Disturbance[] {
  const planned: Disturbance[] = [];
  for (const [kind, most] of Object.entries(kinds)) {
    const isAbsent = random.chance(kinds === OF_RIGHTS ? 0.2 : 0.5);
    const count = isAbsent ? 0 : Math.ceil(random.next() * most * (stretch / 60_000));
    for (let i = 0; i < count; i++) {
      const disturbance = {
        at: Math.round(random.next() * stretch),
        kind: kind as Disturbance["kind"],
        target: random.below(12),
        ms: Math.round(
          random.chance(0.5) ? random.between(50, 3_000) : random.between(3_000, 45_000),
        ),
        drawn: random.next(),
      };
      if (isCalm || (kind === "stop_server" && servers === 1 && i > 0)) continue;
      planned.push(disturbance);
    }
  }
  return planned.sort((a, b) => a.at - b.at);
}

function boundsOf(random: Random): Bounds | undefined {
  return random.chance(0.4) ? random.pick(["keyed", "named", "named", "strict"]) : undefined;
}

function servicesOf(random: Random, stretch: number): ServiceChoice[] {
  if (!random.chance(0.3)) return [];
  const count = 2 + random.below(8);
  const planned = Array.from({ length: count }, () => {
    const at = Math.round(random.next() * stretch);
    return { at, ...deedOf(random), number: 1 + random.below(GUEST_TEXTS) };
  });
  return planned.sort((a, b) => a.at - b.at);
}

function deedOf(random: Random): Pick<ServiceChoice, "deed" | "namespace" | "workflow"> {
  const guest = { namespace: random.pick(GUEST_NAMESPACES), workflow: GUEST };
  const drawn = random.next();
  if (drawn < 0.3) return { deed: "register", ...guest };
  if (drawn < 0.4) return { deed: "retire", ...guest };
  if (drawn < 0.5) return { deed: "unregister", ...guest };
  if (drawn < 0.57) return { deed: "delete", ...guest };
  const program = { namespace: "default", workflow: random.pick(PROGRAM_WORKFLOWS) };
  const of = random.chance(0.5) ? program : guest;
  return { deed: random.chance(0.5) ? "include" : "exclude", ...of };
}

function operationsOf(random: Random, stretch: number, programs: number): Operation[] {
  const planned: Operation[] = [];
  for (let target = 0; target < programs; target++) {
    const at = Math.round(random.next() ** 2 * stretch);
    planned.push({ at, kind: "start", target, drawn: random.next() });
  }
  const kinds = OPERATIONS.flatMap(([kind, weight]) => Array.from({ length: weight }, () => kind));
  const count = 2 + random.below(14);
  for (let i = 0; i < count; i++) {
    const kind = random.pick(kinds);
    const at = Math.round(random.next() * stretch);
    planned.push({
      at,
      kind,
      target: random.below(100),
      drawn: random.next(),
    });
  }
  return planned.sort((a, b) => a.at - b.at);
}
