import { isQueued } from "@engine/contract";
import type { Changed } from "@engine/store";
import type { SetTimer } from "../engine-ports.ts";
import type { Bus } from "./bus.ts";
import type { RowNews } from "./bus-message.ts";
import type { Replicas } from "./replicas.ts";

/** Commits that follow each other within this time are told in one message. */
const TOGETHER_MS = 2;
/** More rows than this make a message so long that the bus cuts it into parts. */
const MOST_ROWS = 50;

interface Parts {
  readonly bus: Bus;
  readonly replicas: Pick<Replicas, "hasPeers">;
  readonly setTimer: SetTimer;
}

/** Tells the other servers what this one has committed. Nothing is said while there are none. */
export class ChangeNews {
  readonly #parts: Parts;
  readonly #rows = new Map<string, RowNews>();
  #cancel: (() => void) | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** @param ownerHas How many of the first events the owner knows already. */
  onCommit({ row, events }: Changed, ownerHas: number): void {
    if (!this.#parts.replicas.hasPeers) return;
    const { execution_id: id, generation, head, session, last_session, wake_at, run_as } = row;
    const news = events.length - ownerHas;
    const earlier = this.#rows.get(id)?.pushed_above;
    const pushed_above = session !== null && news > 0 ? (earlier ?? head - news) : earlier;
    const acting = session === null ? null : run_as;
    const isNewsToOwner = session === null || pushed_above !== undefined || acting !== null;
    const owner = isNewsToOwner ? (session ?? last_session) : null;
    this.#rows.set(id, {
      id,
      generation,
      head,
      ...(isQueued(row) && { queued: true }),
      ...(owner !== null && { owner }),
      ...(session === null && { unowned: true }),
      ...(wake_at !== null && { wake_at }),
      ...(pushed_above !== undefined && { pushed_above }),
      ...(acting !== null && { run_as: acting }),
    });
    this.#cancel ??= this.#parts.setTimer(() => this.flush(), TOGETHER_MS);
  }

  flush(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    const rows = [...this.#rows.values()];
    this.#rows.clear();
    for (let i = 0; i < rows.length; i += MOST_ROWS) {
      void this.#parts.bus.send({ kind: "rows", rows: rows.slice(i, i + MOST_ROWS) });
    }
  }
}
