import {
  type ChangeAttributes,
  type ExecutionRow,
  type Need,
  withGrants,
  withMetadata,
  withoutMetadata,
} from "@engine/contract";
import type { Clients } from "./clients.ts";
import { applyLimit, ROOM } from "./limit-choices.ts";
import type { Random } from "./random.ts";
import type { RestWatch } from "./rest-watch.ts";
import type { CommitRecord } from "./store/commit-record.ts";
import type { Shown, Workers } from "./workers.ts";
import type { World } from "./world.ts";

const EVERY_MS = 1_500;
const SERVICE = "engine.service.";
const QUEUED: ReadonlySet<string> = new Set(["CREATED", "RESUMING"]);

interface AnswersParts {
  readonly world: World;
  readonly random: Random;
  readonly record: CommitRecord;
  readonly watch: RestWatch;
  readonly workers: Workers;
  readonly clients: Clients;
  readonly isRough: () => boolean;
}

/**
 * People who answer what waits for an answer, sometimes two at a time. Once nothing is broken they take
 * their time: whoever waits has to come to rest first, and can be looked at.
 */
export class Answers {
  readonly #parts: AnswersParts;

  constructor(parts: AnswersParts) {
    this.#parts = parts;
  }

  begin(): void {
    const { world, random, record, watch, isRough } = this.#parts;
    world.after(EVERY_MS, () => this.begin());
    const isAtRest = watch.look();
    for (const row of record.open.values()) {
      if (isRough() ? random.chance(0.4) : isAtRest) this.#answer(row);
      if (isRough() ? random.chance(0.2) : isAtRest) this.#place(row);
      if (isAtRest && !isRough()) this.#makeRoom(row);
    }
  }

  /**
   * Operators who see what an execution waits for say it of a worker that may have it then, or give the
   * execution up.
   */
  #place({ execution_id, state, session, not_before, requirements }: ExecutionRow): void {
    const { world, random, clients, workers, isRough } = this.#parts;
    const { affinity = [], hidden, worker: required } = requirements ?? {};
    const isParked = QUEUED.has(state) && session === null && (not_before ?? 0) <= world.now;
    if (!isParked || (affinity.length === 0 && !hidden)) return;
    const able = Array.from({ length: workers.count }, (_, at) => at).filter((at) => {
      if (required !== undefined && workers.nameOf(at) !== required) return false;
      const shows = workers.life(at)?.shows;
      return shows && affinity.every((need) => canHave(need, shows));
    });
    const isGivenUp = hidden !== undefined || able.length === 0 || random.chance(0.1);
    if (isGivenUp) {
      if (!isRough() || random.chance(0.1)) void clients.cancel(execution_id);
      return;
    }
    const worker = workers.nameOf(random.pick(able));
    for (const change of affinity.flatMap(changeFor)) {
      void clients.operate(`make ${worker} fit`, ({ attributes }) =>
        attributes.change(worker, change),
      );
    }
  }

  /** Operators who see that it waits for them allow more, in the end. */
  #makeRoom({ state, session, requirements }: ExecutionRow): void {
    if (!QUEUED.has(state) || session !== null) return;
    for (const limit of requirements?.limits ?? []) {
      if (limit.kind !== "limit") continue;
      const { name } = limit;
      void this.#parts.clients.operate(`make room under ${name}`, (engine, store) =>
        applyLimit({ name, definition: ROOM }, engine, store),
      );
    }
  }

  #answer({ execution_id, waits }: ExecutionRow): void {
    const { random, clients } = this.#parts;
    for (const { kind, task_call_id, name } of waits) {
      const times = random.chance(0.2) ? 2 : 1;
      for (let i = 0; i < times; i++) {
        if (kind === "pause") void clients.resume(execution_id, task_call_id);
        if (kind === "signal") void clients.signal(execution_id, name);
      }
    }
  }
}

/** Whether operators can make a worker that shows this be what is needed. */
function canHave(need: Need, { labels, services }: Shown): boolean {
  if (need.of !== "label") return need.of === "meta";
  if (need.key.startsWith(SERVICE)) return services.includes(need.key.slice(SERVICE.length));
  return (labels[need.key] === need.value) === (need.op === "eq");
}

function changeFor(need: Need): readonly ChangeAttributes[] {
  if (need.of === "meta") {
    const { key, value } = need;
    return [
      need.op === "ne"
        ? withoutMetadata(key)
        : withMetadata({ metadata: { [key]: value }, replace: false }),
    ];
  }
  const isService = need.of === "label" && need.key.startsWith(SERVICE);
  return isService ? [withGrants([need.key.slice(SERVICE.length)])] : [];
}
