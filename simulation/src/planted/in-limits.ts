import { EngineError, type NewExecution, type ResolvedLimit } from "@engine/contract";
import type { Store } from "@engine/store";
import { changed } from "../changed.ts";
import { changedPort } from "./changed.ts";
import type { PlantedBugs } from "./planted-bug.ts";

/** Bugs of how many may run at a time, and of what starts and calls say of a worker. */
export const IN_LIMITS: PlantedBugs = {
  "leaky-limit": {
    what: "a limit has one place more than it says",
    seenBy: "limits",
    store: (store) =>
      limiting(store, (limit) =>
        limit.kind === "concurrency" ? [{ ...limit, count: limit.count + 1 }] : [limit],
      ),
  },
  "stale-definition": {
    what: "what operators allowed under a name first holds for ever",
    seenBy: "limits",
    store(store) {
      const known = new Set<string>();
      return changedPort(store, "limits", {
        async set(name, definition, audit) {
          const row = await store.limits.find(name);
          if (row && known.has(name)) return { ...row, ...definition };
          known.add(name);
          return store.limits.set(name, definition, audit);
        },
        delete: async () => true,
      });
    },
  },
  "one-key-for-all": {
    what: "executions of one key do not share their places",
    seenBy: "limits",
    store: (store) =>
      limiting(store, (limit, { execution_id }) => {
        const parts = JSON.parse(limit.bucket) as unknown[];
        const bucket = JSON.stringify([...parts, execution_id]);
        return [parts.length > 2 ? { ...limit, bucket } : limit];
      }),
  },
  "no-refusal": {
    what: "what a full workflow was to refuse waits",
    seenBy: "refusedStarts",
    store: (store) =>
      limiting(store, (limit) => {
        const { overflow: _, ...rest } = limit as Extract<ResolvedLimit, { kind: "concurrency" }>;
        return [rest];
      }),
  },
  "refused-in-vain": {
    what: "a workflow that refuses what would wait refuses everything",
    seenBy: "refusedStarts",
    store: (store) =>
      changedPort(store, "executions", {
        async create(fresh, claimant) {
          if (isStrict(fresh)) throw full();
          return store.executions.create(fresh, claimant);
        },
      }),
  },
  "refused-and-made": {
    what: "a start is created, and said to be refused",
    seenBy: "refusedStarts",
    store: (store) =>
      changedPort(store, "executions", {
        async create(fresh, claimant) {
          const created = await store.executions.create(fresh, claimant);
          if (isStrict(fresh)) throw full();
          return created;
        },
      }),
  },
  "any-worker": {
    what: "the worker that a start requires is not looked at",
    seenBy: "placement",
    store: (store) =>
      changedPort(store, "executions", {
        create({ requirements = null, ...fresh }: NewExecution, claimant) {
          const { worker: _, ...less } = requirements ?? {};
          return store.executions.create({ ...fresh, requirements: less }, claimant);
        },
      }),
  },
  "unheard-routing-input": {
    what: "the routing input of a call is lost on its way to the child",
    seenBy: "resolutions",
    protocol: (protocol) =>
      changed(protocol, {
        checkpoints: (ref, items) =>
          protocol.checkpoints(
            ref,
            items.map(({ routing_inputs: _, ...item }) => item),
          ),
      }),
  },
};

function limiting(
  store: Store,
  replace: (limit: ResolvedLimit, fresh: NewExecution) => readonly ResolvedLimit[],
): Store {
  return changedPort(store, "executions", {
    create(fresh, claimant) {
      const { requirements = null } = fresh;
      const limits = requirements?.limits?.flatMap((limit) => replace(limit, fresh));
      const other = limits ? { ...requirements, limits } : requirements;
      return store.executions.create({ ...fresh, requirements: other }, claimant);
    },
  });
}

function isStrict({ requirements }: NewExecution): boolean {
  return requirements?.limits?.some((limit) => "overflow" in limit && limit.overflow) ?? false;
}

function full(): EngineError {
  return new EngineError("concurrency_limited", "all places are taken");
}
