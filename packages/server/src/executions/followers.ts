import type { Changed } from "@engine/store";
import type { Domain } from "../domain.ts";
import type { EnginePorts } from "../engine-ports.ts";
import { InOrder } from "../in-order.ts";
import type { ProgressHub } from "../progress/progress-hub.ts";
import type { RowNews } from "../replicas/bus-message.ts";
import type { Replicas } from "../replicas/replicas.ts";
import { resolveValues } from "../values/resolve-values.ts";
import { Follower, type View } from "./follower.ts";
import { LogPages, Turns } from "./log-pages.ts";
import type { PrincipalRefs } from "./principal-refs.ts";

interface Parts {
  readonly ports: Pick<EnginePorts, "store" | "values">;
  readonly progress: Pick<ProgressHub, "join">;
  readonly replicas: Pick<Replicas, "hasPeers">;
  readonly refs: PrincipalRefs;
}

/** The readers of one execution, and how they stop listening to its progress. */
interface Readers {
  readonly followers: Set<Follower>;
  readonly leave: () => void;
}

/** The readers of running executions, fed by the commits of this process. */
export class Followers implements Domain {
  readonly #parts: Parts;
  readonly #readers = new Map<string, Readers>();
  readonly #inOrder = new InOrder();
  readonly #turns = new Turns();
  #isClosed = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * A follower that has yet to `begin`, or to be closed. Open it before the change that it begins with
   * is made, or before the row that it begins with is read.
   */
  open(execution_id: string, view: View): Follower {
    const follower = new Follower(execution_id, {
      ...view,
      shown: (row) => resolveValues(row, this.#parts.ports.values),
      refs: this.#parts.refs,
      find: (id) => this.#parts.ports.store.executions.find(id),
      pages: (id) => this.pages(id),
    });
    const { followers, leave } = this.#readers.get(execution_id) ?? this.#join(execution_id);
    followers.add(follower);
    follower.onClosed(() => {
      if (!followers.delete(follower) || followers.size > 0) return;
      this.#readers.delete(execution_id);
      leave();
    });
    if (this.#isClosed) follower.end();
    return follower;
  }

  /** The pages of an execution's log. All readers take turns in reading them. */
  pages(execution_id: string): LogPages {
    return new LogPages(this.#parts.ports.store, this.#turns, execution_id);
  }

  onCommit({ row, events, recorded_at }: Changed): void {
    const readers = this.#readers.get(row.execution_id);
    if (!readers) return;
    const logged = events.map((event) => ({ event, recorded_at }));
    for (const follower of readers.followers) follower.see(row, logged);
  }

  async onNews(rows: readonly RowNews[]): Promise<void> {
    const followed = rows.filter(({ id }) => this.#readers.has(id));
    await Promise.all(followed.map(({ id }) => this.#look(id)));
  }

  /** Reads every execution that is followed. */
  async refresh(): Promise<void> {
    await Promise.all([...this.#readers.keys()].map((execution_id) => this.#look(execution_id)));
  }

  /** Every stream ends now, without a closing frame. */
  close(): void {
    this.#isClosed = true;
    for (const { followers } of this.#readers.values()) for (const f of followers) f.end();
  }

  #join(execution_id: string): Readers {
    const followers = new Set<Follower>();
    const leave = this.#parts.progress.join(execution_id, async (items) => {
      const tell = () => {
        for (const item of items) for (const follower of followers) follower.seeProgress(item);
      };
      // With other servers around, states they committed come before the values that follow them.
      if (this.#parts.replicas.hasPeers) await this.#look(execution_id, tell);
      else tell();
    });
    const readers = { followers, leave };
    this.#readers.set(execution_id, readers);
    return readers;
  }

  /**
   * Lets the readers of an execution catch up with what another process has written.
   *
   * @param then Tells them what comes after that.
   */
  #look(execution_id: string, then: () => void = () => undefined): Promise<void> {
    return this.#inOrder.run(execution_id, async () => {
      const row = await this.#parts.ports.store.executions
        .find(execution_id)
        .catch(() => undefined);
      const followers = row ? [...(this.#readers.get(execution_id)?.followers ?? [])] : [];
      await Promise.allSettled(
        followers.map((follower) => {
          if (row) follower.see(row, []);
          return follower.catchUp();
        }),
      );
      then();
    });
  }
}
