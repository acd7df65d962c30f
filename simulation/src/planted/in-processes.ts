import {
  type Event,
  revealed,
  type SessionRef,
  type WorkerFrame,
  type WorkerProtocol,
} from "@engine/contract";
import type { Engine } from "@engine/server";
import { changed } from "../changed.ts";
import type { PlantedBugs } from "./planted-bug.ts";

/** Bugs of servers and workers, and of what is between them. */
export const IN_PROCESSES: PlantedBugs = {
  "hasty-hand-over": {
    what: "a worker that lives is given up every now and then",
    seenBy: "attributableRuns",
    protocol: givingUpLiveWorkers,
  },
  "no-generation-check": {
    what: "a worker may write on behind what the one that took over from it has written",
    seenBy: "singleWriter",
    protocol(protocol, store) {
      const owners = new Map<string, SessionRef>();
      // Of workers that were lost few live to write on; those that were given up too early do.
      return changed(givingUpLiveWorkers(protocol), {
        async checkpoints(ref, items) {
          for (const { execution_id, generation } of items) {
            owners.set(`${execution_id} ${generation}`, ref);
          }
          const answers = [];
          for (const item of items) {
            const row = await store.executions.find(item.execution_id);
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
  "other-names": {
    what: "a worker that takes over gets the log with other names of calls",
    seenBy: "noDivergence",
    protocol: (protocol) =>
      withOtherHistory(protocol, (event) => {
        if (!event.type.startsWith("TASK_") || event.kind !== null) return event;
        const source_id = event.source_id.replace(/\w+~(\d+)$/, "other~$1");
        return { ...event, name: "other", source_id };
      }),
  },
  "other-history": {
    what: "a worker that takes over gets another outcome than was recorded",
    seenBy: "liveValues",
    protocol: (protocol) =>
      withOtherHistory(protocol, (event) =>
        event.type === "TASK_COMPLETED" && typeof event.value === "string"
          ? ({ ...event, value: `${event.value} and more` } as Event)
          : event,
      ),
  },
  "plain-secrets": {
    what: "a server keeps what a sensitive task takes and gives as it is",
    seenBy: "hiddenValues",
    protocol: (protocol) =>
      changed(protocol, {
        checkpoints: (ref, items) =>
          protocol.checkpoints(
            ref,
            items.map((item) => ({ ...item, events: item.events.map(revealed) })),
          ),
      }),
  },
  "missing-frame": {
    what: "a reader is not told of a state",
    seenBy: "streamOrder",
    engine: (engine) =>
      changed(engine, {
        executions: changed(engine.executions, {
          async follow(...asked) {
            const follower = await engine.executions.follow(...asked);
            return changed(follower, { frames: () => withoutThird(follower.frames()) });
          },
        }),
      }),
  },
  "unheard-hold": {
    what: "a worker is not told that the principal of an execution cannot be used any more",
    seenBy: "usablePrincipals",
    protocol(protocol) {
      const isHold = ({ event, data }: WorkerFrame) => event === "grants" && data.hold === true;
      return changed(protocol, {
        connect: (ref, running, onFrame) =>
          protocol.connect(ref, running, (frame) => {
            if (!isHold(frame)) onFrame(frame);
          }),
      });
    },
  },
  "other-version": {
    what: "a worker runs the code of another version",
    seenBy: "pinnedVersions",
    programs: (programs) => ({
      ...programs,
      workflows(hash) {
        const hashes = programs.versions.map(({ module }) => module.hash);
        const other = hashes.find((one) => one !== hash);
        return programs.workflows(other ?? hash);
      },
    }),
  },
  "dropped-promise": {
    what: "an exception in the background has nobody who hears of it",
    seenBy: "unhandled",
    protocol: (protocol) =>
      changed(protocol, {
        heartbeat(ref, heartbeat) {
          void Promise.reject(new Error("nobody waits for this"));
          return protocol.heartbeat(ref, heartbeat);
        },
      }),
  },
  "stale-service": {
    what: "a server keeps what a service offered when it was first asked",
    seenBy: "serviceChanges",
    engine(engine) {
      const kept = new Map<string, ReturnType<Engine["services"]["resolve"]>>();
      const resolve: Engine["services"]["resolve"] = (service, name) => {
        const known = kept.get(name) ?? engine.services.resolve(service, name);
        kept.set(name, known);
        return known;
      };
      return changed(engine, { services: changed(engine.services, { resolve }) });
    },
  },
  "stale-catalog": {
    what: "a server keeps what a service offers until that is changed, whatever is registered",
    seenBy: "serviceChanges",
    engine(engine) {
      const kept = new Map<string, ReturnType<Engine["services"]["resolve"]>>();
      engine.epochs.onChange("services", () => kept.clear());
      const resolve: Engine["services"]["resolve"] = async (service, name) => {
        await engine.epochs.current();
        const known = kept.get(name) ?? engine.services.resolve(service, name);
        kept.set(name, known);
        return known;
      };
      return changed(engine, { services: changed(engine.services, { resolve }) });
    },
  },
};

/** Every second heartbeat is taken for the end of its worker's session. */
function givingUpLiveWorkers(protocol: WorkerProtocol): WorkerProtocol {
  let beats = 0;
  return changed(protocol, {
    async heartbeat(ref, heartbeat) {
      if (++beats % 2 === 0) await protocol.disconnect(ref);
      return protocol.heartbeat(ref, heartbeat);
    },
  });
}

/** Workers that are given executions with another log than there is. */
function withOtherHistory(
  protocol: WorkerProtocol,
  replace: (event: Event) => Event,
): WorkerProtocol {
  const other = (frame: WorkerFrame): WorkerFrame => {
    if (frame.event !== "assign") return frame;
    const events = frame.data.history.events.map(replace);
    return { ...frame, data: { ...frame.data, history: { ...frame.data.history, events } } };
  };
  return changed(protocol, {
    connect: (ref, running, onFrame) =>
      protocol.connect(ref, running, (frame) => onFrame(other(frame))),
  });
}

async function* withoutThird<Part>(parts: AsyncIterable<Part>): AsyncGenerator<Part> {
  let count = 0;
  for await (const part of parts) if (++count !== 3) yield part;
}
