import {
  type Change,
  createdExecution,
  type Event,
  isTerminal,
  type NewExecution,
  type SessionRef,
  type WorkerFrame,
  type WorkerProtocol,
} from "@engine/contract";
import type { Changed, Decide, Store } from "@engine/store";

/** A bug that is put into the engine from outside: a simulation that cannot fail proves nothing. */
export interface PlantedBug {
  /** In a sentence. */
  readonly what: string;
  /** The invariant that must notice. */
  readonly breaks: string;
  store?(store: Store): Store;
  protocol?(protocol: WorkerProtocol, store: Store): WorkerProtocol;
}

export const PLANTED_BUGS: Readonly<Record<string, PlantedBug>> = {
  "lost-start": {
    what: "every third start is acknowledged and not written",
    breaks: "I1",
    store(store) {
      let starts = 0;
      return changed(store, {
        async createExecution(fresh, claimant) {
          if (++starts % 3 > 0) return store.createExecution(fresh, claimant);
          const { row, events } = createdExecution(fresh);
          const numbered = events.map((event, i) => ({ ...event, seq: i + 1 }) as Event);
          return { row, events: numbered, recorded_at: row.created_at, others: [] };
        },
      });
    },
  },
  "forgotten-key": {
    what: "the idempotency key of a start is not looked at",
    breaks: "I1",
    store: (store) =>
      changed(store, {
        createExecution({ unique: _, ...fresh }: NewExecution, claimant) {
          return store.createExecution(fresh, claimant);
        },
      }),
  },
  "outcome-twice": {
    what: "an outcome is written twice",
    breaks: "I4",
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
  "no-wake-up": {
    what: "the server does not look for what is due",
    breaks: "I17",
    store: (store) => changed(store, { listDue: async () => [] }),
  },
  "second-end": {
    what: "an execution that has ended begins again",
    breaks: "I2",
    store(store) {
      let ends = 0;
      return deciding(store, (change) => {
        const { state } = change.patch;
        if (state === undefined || !isTerminal(state) || ++ends % 2 > 0) return change;
        return { ...change, patch: { ...change.patch, state: "CREATED" } };
      });
    },
  },
  "another-history": {
    what: "a worker that takes over gets another outcome than was recorded",
    breaks: "I9",
    protocol: (protocol) =>
      changed(protocol, {
        connect: (ref, running, onFrame) =>
          protocol.connect(ref, running, (frame) => onFrame(withOtherOutcomes(frame))),
      }),
  },
  "no-generation-check": {
    what: "a worker may write on behind what the one that took over from it has written",
    breaks: "I6",
    protocol(protocol, store) {
      const owners = new Map<string, SessionRef>();
      return changed(protocol, {
        async checkpoints(ref, items) {
          for (const { execution_id, generation } of items) {
            owners.set(`${execution_id} ${generation}`, ref);
          }
          const answers = [];
          for (const item of items) {
            const row = await store.findExecution(item.execution_id);
            const isOld = row !== undefined && row.generation > item.generation;
            const by = isOld && owners.get(`${item.execution_id} ${row.generation}`);
            const { generation, head: base_seq } = row ?? { ...item, head: item.base_seq };
            const written = by ? { ...item, generation, base_seq } : item;
            answers.push(...(await protocol.checkpoints(by || ref, [written])));
          }
          return answers;
        },
      });
    },
  },
};

function withOtherOutcomes(frame: WorkerFrame): WorkerFrame {
  if (frame.event !== "assign") return frame;
  const events = frame.data.history.events.map((event) =>
    event.type === "TASK_COMPLETED" && typeof event.value === "string"
      ? ({ ...event, value: `${event.value} and more` } as Event)
      : event,
  );
  return { ...frame, data: { ...frame.data, history: { ...frame.data.history, events } } };
}

/** A store that changes what decisions say. */
function deciding(store: Store, replace: (change: Change) => Change): Store {
  return changed(store, {
    changeExecution(execution_id, decide, options): Promise<Changed> {
      const other: Decide = (...seen) => {
        const change = decide(...seen);
        return change && replace(change);
      };
      return store.changeExecution(execution_id, other, options);
    },
  });
}

/** The same, but for some methods. */
function changed<Whole extends object>(whole: Whole, methods: Partial<Whole>): Whole {
  return new Proxy(whole, {
    get(target, name) {
      const own: unknown = Reflect.get(methods, name);
      if (own !== undefined) return own;
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

export function plantedBug(name: string): PlantedBug {
  const bug = PLANTED_BUGS[name];
  if (bug) return bug;
  throw new Error(`no bug "${name}" to plant; there are ${Object.keys(PLANTED_BUGS).join(", ")}`);
}
