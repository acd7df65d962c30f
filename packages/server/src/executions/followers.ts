import type { ExecutionRow } from "@engine/contract";
import type { Changed, Store } from "@engine/store";
import type { ProgressHub } from "../progress/progress-hub.ts";
import { InOrder } from "../replicas/in-order.ts";
import { Follower, type View } from "./follower.ts";
import { LogPages, Turns } from "./log-pages.ts";

/** The readers of running executions, fed by the commits of this process. */
export class Followers {
  readonly #store: Store;
  readonly #progress: ProgressHub;
  readonly #shown: (row: ExecutionRow) => Promise<ExecutionRow>;
  readonly #followers = new Map<string, Set<Follower>>();
  readonly #inOrder = new InOrder();
  readonly #turns = new Turns();
  #isClosed = false;

  /** @param ports.shown The row with its real values, as records show it. */
  constructor(ports: {
    store: Store;
    progress: ProgressHub;
    shown: (row: ExecutionRow) => Promise<ExecutionRow>;
  }) {
    this.#store = ports.store;
    this.#progress = ports.progress;
    this.#shown = ports.shown;
  }

  /**
   * Open it before the change it begins with, or before the row it begins with is read, then `begin`
   * it or `close` it.
   */
  open(execution_id: string, view: View): Follower {
    const follower = new Follower(execution_id, {
      ...view,
      shown: this.#shown,
      find: (id) => this.#store.executions.find(id),
      pages: (id) => this.pages(id),
    });
    follower.onClosed(this.#progress.join(execution_id, (item) => follower.seeProgress(item)));
    const followers = this.#followers.get(execution_id) ?? new Set();
    this.#followers.set(execution_id, followers.add(follower));
    follower.onClosed(() => {
      followers.delete(follower);
      if (followers.size === 0) this.#followers.delete(execution_id);
    });
    if (this.#isClosed) follower.end();
    return follower;
  }

  /** The log of an execution, read on without being in anybody's way. */
  pages(execution_id: string): LogPages {
    return new LogPages(this.#store, this.#turns, execution_id);
  }

  onCommit({ row, events, recorded_at }: Changed): void {
    const followers = this.#followers.get(row.execution_id);
    if (!followers) return;
    const logged = events.map((event) => ({ event, recorded_at }));
    for (const follower of followers) follower.see(row, logged);
  }

  isFollowed(execution_id: string): boolean {
    return this.#followers.has(execution_id);
  }

  /**
   * Another process wrote it: its readers catch up.
   *
   * @param then What they are to be told next, also of another process.
   */
  look(execution_id: string, then: () => void = () => undefined): Promise<void> {
    return this.#inOrder.run(execution_id, async () => {
      const row = await this.#store.executions.find(execution_id).catch(() => undefined);
      const followers = row ? [...(this.#followers.get(execution_id) ?? [])] : [];
      await Promise.allSettled(
        followers.map((follower) => {
          if (row) follower.see(row, []);
          return follower.catchUp();
        }),
      );
      then();
    });
  }

  /** Reads again what is followed. */
  async reread(): Promise<void> {
    await Promise.all([...this.#followers.keys()].map((execution_id) => this.look(execution_id)));
  }

  /** Every stream ends now, without a closing frame. */
  close(): void {
    this.#isClosed = true;
    for (const followers of this.#followers.values()) for (const f of followers) f.end();
  }
}
