import type { NewSession } from "@engine/store";
import { settled } from "../../testing/manual-time.ts";
import { registration } from "../../testing/scripted-worker.ts";
import { type Constraint, FIT_ATTRIBUTES, readsMetadata, UNFIT_ATTRIBUTES } from "./constraints.ts";
import type { Stage } from "./stage.ts";

/** What has become of the worker that an execution had, or that it needs. */
export interface Fate {
  readonly name: string;
  /** Whether it may have the execution all the same. */
  isAllowed(constraint: Constraint): boolean;
  /** What happens to it; what is answered makes it a worker again that may have the execution. */
  befall(stage: Stage): Promise<() => Promise<unknown>>;
}

/** Longer than a worker may be away, or silent. */
const AWAY_MS = 40_000;
const ANOTHER_PROCESS = "01900000-0000-7000-8000-00000000ffff";
const never = () => false;

export const FATES: readonly Fate[] = [
  { name: "alive", isAllowed: () => true, befall: async () => async () => undefined },
  { name: "full", isAllowed: never, befall: full },
  { name: "paused", isAllowed: never, befall: paused },
  { name: "paused on another server, unheard", isAllowed: never, befall: pausedUnheard },
  { name: "dead", isAllowed: never, befall: dead },
  { name: "replaced on another server, unheard", isAllowed: never, befall: replacedUnheard },
  {
    name: "back with other labels",
    // Its name is all that is asked for, or what operators say of its name.
    isAllowed: (constraint) => constraint === "required worker" || readsMetadata(constraint),
    befall: changed,
  },
  {
    name: "metadata changed",
    isAllowed: (constraint) => !readsMetadata(constraint),
    befall: described,
  },
  {
    name: "grant revoked",
    isAllowed: (constraint) => constraint !== "service",
    befall: revoked,
  },
];

async function full(stage: Stage): Promise<() => Promise<unknown>> {
  const filler = await stage.start("filler");
  return () => stage.does("original", filler, (worker, it) => worker.completed(it, null));
}

async function paused({ t }: Stage): Promise<() => Promise<unknown>> {
  await t.engine.fleet.pause("original");
  return () => t.engine.fleet.resume("original");
}

/** The row says so already; the news is on its way. */
async function pausedUnheard({ t }: Stage): Promise<() => Promise<unknown>> {
  await t.store.workers.desire("original", "paused");
  return () => t.engine.fleet.resume("original");
}

async function dead(stage: Stage): Promise<() => Promise<unknown>> {
  const original = stage.member("original");
  original.die();
  await stage.pass(AWAY_MS);
  return () => original.connect();
}

async function replacedUnheard(stage: Stage): Promise<() => Promise<unknown>> {
  const { name: worker, protocol: _, ...said } = registration("original");
  const ids = { session_id: "another", token_hash: "another", instance_id: ANOTHER_PROCESS };
  const other: NewSession = { ...said, ...ids, worker, dispatch: "event", credential_line: null };
  await stage.t.store.sessions.open(other);
  return () => stage.join("original");
}

async function changed(stage: Stage): Promise<() => Promise<unknown>> {
  await stage.joinUnfit("original");
  await settled();
  return () => stage.join("original");
}

async function described(stage: Stage): Promise<() => Promise<unknown>> {
  await stage.describe("original", UNFIT_ATTRIBUTES.metadata);
  return () => stage.describe("original", FIT_ATTRIBUTES.metadata);
}

async function revoked(stage: Stage): Promise<() => Promise<unknown>> {
  await stage.revoke("original");
  return () => stage.grant("original");
}
