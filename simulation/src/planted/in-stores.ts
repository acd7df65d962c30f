import {
  createdExecution,
  decode,
  EngineError,
  type Event,
  encode,
  formatEventTime,
  formatInstant,
  isTerminal,
  type Need,
  type NewEvent,
  type NewExecution,
  parseEventTime,
  parseInstant,
} from "@engine/contract";
import type { HeldAttributes, Store } from "@engine/store";
import { changedPort, deciding } from "./changed.ts";
import type { PlantedBugs } from "./planted-bug.ts";

const DAY_MS = 86_400_000;

/** Bugs of a store, or of what a server makes of it. */
export const IN_STORES: PlantedBugs = {
  "lost-start": {
    what: "every third start is acknowledged and not written",
    seenBy: "acknowledgedStarts",
    store(store) {
      let starts = 0;
      return changedPort(store, "executions", {
        async create(fresh, claimant) {
          if (++starts % 3 > 0) return store.executions.create(fresh, claimant);
          const { row, events } = createdExecution(fresh);
          const numbered = events.map((event, i) => ({ ...event, seq: i + 1 }) as Event);
          return { row, events: numbered, recorded_at: row.created_at, others: [] };
        },
      });
    },
  },
  "forgotten-key": {
    what: "the idempotency key of a start is not looked at",
    seenBy: "acknowledgedStarts",
    store: (store) =>
      changedPort(store, "executions", {
        create({ unique: _, ...fresh }: NewExecution, claimant) {
          return store.executions.create(fresh, claimant);
        },
      }),
  },
  "second-end": {
    what: "an execution that has ended begins again",
    seenBy: "oneEnd",
    store(store) {
      let ends = 0;
      return deciding(store, (change) => {
        const { state } = change.patch;
        if (state === undefined || !isTerminal(state) || ++ends % 2 > 0) return change;
        return { ...change, patch: { ...change.patch, state: "CREATED" } };
      });
    },
  },
  "skipped-event": {
    what: "a page of a log leaves one event out",
    seenBy: "denseLogs",
    store: (store) =>
      changedPort(store, "log", {
        async read(execution_id, page) {
          const log = await store.log.read(execution_id, page);
          return log.length > 3 ? log.toSpliced(1, 1) : log;
        },
      }),
  },
  "outcome-twice": {
    what: "an outcome is written twice",
    seenBy: "recordedOnce",
    store: (store) =>
      deciding(store, (change) => {
        const at = change.events.findIndex(({ type }) => type === "TASK_COMPLETED");
        const outcome = change.events[at];
        if (!outcome) return change;
        const { head } = change.patch;
        const patch = head === undefined ? change.patch : { ...change.patch, head: head + 1 };
        return { ...change, patch, events: change.events.toSpliced(at, 0, outcome) };
      }),
  },
  "other-instant": {
    what: "the log has a later instant for a sleep than it lasts",
    seenBy: "timers",
    store: (store) =>
      rewriting(store, (event) => {
        if (event.type !== "TASK_STARTED" || event.kind !== "sleep") return event;
        const { until } = decode(event.value) as { until: string };
        return { ...event, value: { until: formatInstant(parseInstant(until) + 5_000) } };
      }),
  },
  "other-payload": {
    what: "a signal is recorded with another payload",
    seenBy: "consumedOnce",
    store: (store) =>
      rewriting(store, (event) => {
        if (event.type !== "WORKFLOW_SIGNALED") return event;
        const { name } = decode(event.value) as { name: string };
        return { ...event, value: encode({ name, payload: "another" }, "value") };
      }),
  },
  "everybody-wins": {
    what: "who resumes what was resumed before is told that it was done",
    seenBy: "racingResumes",
    store: (store) =>
      changedPort(store, "executions", {
        async change(execution_id, ...rest) {
          try {
            return await store.executions.change(execution_id, ...rest);
          } catch (error) {
            const row = await store.executions.find(execution_id);
            const isLate = error instanceof EngineError && error.code === "not_paused";
            if (!isLate || !row) throw error;
            return { row, events: [], recorded_at: row.created_at, others: [] };
          }
        },
      }),
  },
  "unheard-cancel": {
    what: "a cancel is acknowledged and not written",
    seenBy: "cancels",
    store: (store) =>
      changedPort(store, "executions", {
        change(execution_id, decide, options) {
          const deaf: typeof decide = (...seen) => {
            const change = decide(...seen);
            return change?.events.some(({ type }) => type === "WORKFLOW_CANCELLING")
              ? undefined
              : change;
          };
          return store.executions.change(execution_id, deaf, options);
        },
      }),
  },
  "pause-ignored": {
    what: "a worker is said to be paused, and gets work all the same",
    seenBy: "placement",
    store: (store) =>
      changedPort(store, "workers", {
        async desire(name, desired) {
          if (desired === "active") return store.workers.desire(name, desired);
          const row = await store.workers.find(name);
          return row && { ...row, desired };
        },
      }),
  },
  "ne-ignored": {
    what: "a term that says what a worker must not be is taken for none",
    seenBy: "placement",
    store: (store) =>
      changedPort(store, "executions", {
        create({ requirements = null, ...fresh }: NewExecution, claimant) {
          const affinity = requirements?.affinity?.filter((need) => !isUnlike(need));
          const less = affinity ? { ...requirements, affinity } : requirements;
          return store.executions.create({ ...fresh, requirements: less }, claimant);
        },
      }),
  },
  "stale-revision": {
    what: "a server goes by what operators said of a worker at first, and its claims are not refused",
    seenBy: "placement",
    store(store) {
      const known = new Map<string, HeldAttributes>();
      const forgetful = changedPort(store, "workers", {
        async find(name) {
          const row = await store.workers.find(name);
          const attributes = known.get(name) ?? row?.attributes;
          if (attributes) known.set(name, attributes);
          return row && attributes && { ...row, attributes };
        },
      });
      return changedPort(forgetful, "executions", {
        create(fresh, claimant) {
          if (!claimant) return store.executions.create(fresh);
          const { attributes: _, ...unguarded } = claimant;
          return store.executions.create(fresh, unguarded);
        },
        change(execution_id, decide, { guard, ...options } = {}) {
          if (!guard) return store.executions.change(execution_id, decide, options);
          const { attributes: _, ...unguarded } = guard;
          return store.executions.change(execution_id, decide, { ...options, guard: unguarded });
        },
      });
    },
  },
  "placed-anyhow": {
    what: "what lacks an input that its placement reads is created as if it had none",
    seenBy: "resolutions",
    store: (store) =>
      changedPort(store, "executions", {
        create({ unplaceable: _, ...fresh }: NewExecution, claimant) {
          return store.executions.create(fresh, claimant);
        },
      }),
  },
  "more-slots": {
    what: "a worker is given more than it has slots for",
    seenBy: "capacity",
    store: (store) =>
      changedPort(store, "sessions", {
        async open(session) {
          const opened = await store.sessions.open(session);
          return { ...opened, session: { ...opened.session, slots: opened.session.slots + 3 } };
        },
      }),
  },
  "no-wake-up": {
    what: "the server does not look for what is due",
    seenBy: "progressToRest",
    store: (store) => changedPort(store, "queue", { listDue: async () => [] }),
  },
  "pause-left-running": {
    what: "an execution whose pause is open is said to run",
    seenBy: "resting",
    store: (store) =>
      deciding(store, (change) => {
        const isPause = ({ type }: NewEvent) => type === "WORKFLOW_PAUSED";
        if (change.patch.state !== "PAUSED") return change;
        const events = change.events.filter((event) => !isPause(event));
        const { head } = change.patch;
        const less = change.events.length - events.length;
        const patch = { ...change.patch, state: "RUNNING" as const };
        return {
          ...change,
          events,
          patch: head === undefined ? patch : { ...patch, head: head - less },
        };
      }),
  },
  "two-of-a-tick": {
    what: "a schedule starts two executions at once",
    seenBy: "scheduleTicks",
    store: (store) =>
      changedPort(store, "executions", {
        async create(fresh, claimant) {
          if (fresh.schedule) {
            const { unique: _, ...again } = fresh;
            const execution_id = fresh.execution_id.replace(/.$/, (last) =>
              last === "0" ? "1" : "0",
            );
            await store.executions.create({ ...again, execution_id });
          }
          return store.executions.create(fresh, claimant);
        },
      }),
  },
  "hasty-retention": {
    what: "what has just ended is deleted",
    seenBy: "retained",
    store: (store) =>
      changedPort(store, "retention", {
        deleteFinished: (before, limit) =>
          store.retention.deleteFinished(before + 365 * DAY_MS, limit),
      }),
  },
  "other-output": {
    what: "a workflow is recorded with another output than it returned",
    seenBy: "possibleOutputs",
    store: (store) =>
      deciding(store, (change) => {
        if (change.patch.state !== "COMPLETED") return change;
        const events = change.events.map((event) =>
          event.type === "WORKFLOW_COMPLETED" ? { ...event, value: "another" } : event,
        );
        return { ...change, events, patch: { ...change.patch, output: "another" } };
      }),
  },
  "other-clock": {
    what: "the log has another clock for the beginning of a body than it has shown",
    seenBy: "toldTraces",
    store: (store) =>
      rewriting(store, (event) => {
        if (event.type !== "WORKFLOW_STARTED") return event;
        const shown = parseEventTime(String(event.meta?.["clock"] ?? event.time));
        return { ...event, meta: { ...event.meta, clock: formatEventTime(shown + 7) } };
      }),
  },
  "stale-principals": {
    what: "a server never forgets what a principal could do when it looked first",
    seenBy: "usablePrincipals",
    store(store) {
      const known = new Map<string, ReturnType<Store["identities"]["find"]>>();
      return changedPort(store, "identities", {
        find(id) {
          const found = known.get(id) ?? store.identities.find(id);
          known.set(id, found);
          return found;
        },
      });
    },
  },
  "other-outcome": {
    what: "an outcome is recorded with another value than the code has received",
    seenBy: "replayedLogs",
    store: (store) =>
      rewriting(store, (event) => {
        if (event.type !== "TASK_COMPLETED" || typeof event.value !== "string") return event;
        return { ...event, value: `${event.value} and more` };
      }),
  },
};

/** Whether it says what a worker must not be. */
function isUnlike(need: Need): boolean {
  return need.of !== "unknown" && need.op === "ne";
}

/** A store that writes other events than it was to write. */
function rewriting(
  store: Parameters<typeof deciding>[0],
  replace: (event: NewEvent) => NewEvent,
): ReturnType<typeof deciding> {
  return deciding(store, (change) => ({ ...change, events: change.events.map(replace) }));
}
