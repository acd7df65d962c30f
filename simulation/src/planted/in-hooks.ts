import type { NewExecution } from "@engine/contract";
import type { HookRow, Store } from "@engine/store";
import { changed } from "../changed.ts";
import type { Plan } from "../plan.ts";
import { changedPort, deciding } from "./changed.ts";
import type { PlantedBugs } from "./planted-bug.ts";

const DAY_MS = 86_400_000;
const ALL = 1_000;

/** Bugs of what hooks are told of, and of what they start. */
export const IN_HOOKS: PlantedBugs = {
  "lost-delivery": {
    what: "every second execution is created without the deliveries of its events",
    seenBy: "hookDeliveries",
    mayShow: hasHooks,
    store(store) {
      let creations = 0;
      return changedPort(store, "executions", {
        create(fresh, claimant) {
          const create = () => store.executions.create(fresh, claimant);
          return ++creations % 2 > 0 ? create() : withoutHooks(store, create);
        },
      });
    },
  },
  "firing-copies": {
    what: "events that a fork has copied fire hooks once more",
    seenBy: "hookDeliveries",
    mayShow: (plan) => hasHooks(plan) && plan.operations.some(({ kind }) => kind === "fork"),
    store: (store) =>
      changedPort(store, "executions", {
        async create(fresh, claimant) {
          const { fork } = fresh;
          if (!fork || fork.from.seq < 2) return store.executions.create(fresh, claimant);
          const from = { ...fork.from, seq: 1 };
          const made = await store.executions.create(
            { ...fresh, fork: { ...fork, from } },
            claimant,
          );
          return { ...made, row: { ...made.row, forked_from: fork.from } };
        },
      }),
  },
  "swept-outbox": {
    what: "retention takes what hooks have still to start",
    seenBy: "hookDeliveries",
    mayShow: hasHooks,
    store: (store) =>
      changedPort(store, "deliveries", {
        async deleteSettled(before, limit) {
          const later = before + 365 * DAY_MS;
          const due = { now: later, limit: ALL, after: null, but: [] };
          for (const { id, attempts, hook_row } of await store.deliveries.due(due)) {
            if (!hook_row) continue;
            const { id: hook_id, revision } = hook_row;
            const guard = { delivery_id: id, attempts, hook_id, revision };
            const dead = { attempts, error: "swept", dead_reason: "malformed" } as const;
            await store.deliveries.fail(guard, { ...dead, next_attempt_at: null });
          }
          return store.deliveries.deleteSettled(later, limit);
        },
      }),
  },
  "second-target": {
    what: "a delivery starts two executions",
    seenBy: "hookStarts",
    mayShow: hasHooks,
    store: (store) =>
      changedPort(store, "executions", {
        async create(fresh, claimant) {
          const { delivery, ...again } = fresh;
          if (delivery) await store.executions.create({ ...again, execution_id: otherId(fresh) });
          return store.executions.create(fresh, claimant);
        },
      }),
  },
  "unread-outbox": {
    what: "nobody looks for what hooks have to start",
    seenBy: "hookStarts",
    mayShow: hasHooks,
    store: (store) => changedPort(store, "deliveries", { due: async () => [] }),
  },
  "unheard-deliveries": {
    what: "a server is not told that a commit has deliveries",
    seenBy: "hookStarts",
    mayShow: hasHooks,
    store: (store) =>
      changed(store, { outbox: changed(store.outbox, { onDeliveries: () => () => {} }) }),
  },
  "forgotten-hook": {
    what: "children do not know which hook is behind their parent",
    seenBy: "hookStarts",
    mayShow: hasHooks,
    store: (store) =>
      deciding(store, (change) => {
        const effects = change.effects?.map((effect) => {
          if (effect.kind !== "create") return effect;
          const { hook: _, ...fresh } = effect.fresh;
          return { ...effect, fresh };
        });
        return effects ? { ...change, effects } : change;
      }),
  },
};

function hasHooks({ hooks }: Plan): boolean {
  return hooks.length > 0;
}

/** As if there were none, and nobody knows. */
async function withoutHooks<Answer>(store: Store, act: () => Promise<Answer>): Promise<Answer> {
  const { items } = await store.hooks.list({ enabled_only: true, limit: ALL, offset: 0 });
  const off = await Promise.all(items.map((hook) => set(store, hook, false)));
  try {
    return await act();
  } finally {
    for (const hook of off) if (typeof hook === "object") await set(store, hook, true);
  }
}

function set({ hooks }: Store, { name, revision }: HookRow, enabled: boolean) {
  return hooks.change(name, { enabled }, { revision, by: null });
}

function otherId({ execution_id }: NewExecution): string {
  return execution_id.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
}
