import {
  bucketView,
  type LimitDenial,
  type Requirements,
  type ResolvedLimit,
  type State,
} from "@engine/contract";
import type { Changed } from "@engine/store";
import type { Domain } from "../domain.ts";
import type { InnerPorts } from "../engine-ports.ts";
import type { Bus } from "../replicas/bus.ts";
import type { Replicas } from "../replicas/replicas.ts";
import type { Deadlocks } from "./deadlocks.ts";
import { KnownBuckets } from "./known-buckets.ts";
import { limitDenial } from "./limit-check.ts";

interface Parts {
  readonly ports: Pick<InnerPorts, "clock" | "setTimer">;
  readonly bus: Bus;
  readonly replicas: Pick<Replicas, "hasPeers">;
  readonly deadlocks: Pick<Deadlocks, "look" | "lookAt">;
}

/** What other servers are told in one message happened within this time. */
const TOGETHER_MS = 10;

/**
 * Limits as the dispatch of this server sees them: which are known to be full, and when that is over. A
 * place comes back with the commit that gives an execution back or ends it, when a period has passed,
 * and when operators define a limit anew; other servers tell of theirs.
 */
export class Limits implements Domain {
  readonly #parts: Parts;
  readonly #known = new KnownBuckets();
  readonly #listeners: ((buckets: readonly string[]) => void)[] = [];
  /** By bucket: when the next may begin under a rate that is used up. */
  readonly #timers = new Map<string, () => void>();
  readonly #news = new Set<string>();
  #cancelNews: (() => void) | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    parts.bus.listen((message) => {
      if (message.kind !== "limits") return;
      if (message.name !== undefined) this.#redefined(message.name);
      this.#freed(message.buckets ?? []);
    });
  }

  /** Check 4 of the gate: which limit is known to have no place for an execution. */
  denial({
    requirements,
    generation = 0,
    state,
  }: {
    readonly requirements?: Requirements | null | undefined;
    /** 0: no worker has had it. */
    readonly generation?: number;
    readonly state?: State;
  }): LimitDenial | undefined {
    const limits = requirements?.limits;
    if (!limits) return undefined;
    const isUnwinding = state === "CANCELLING";
    return limitDenial({ limits, isFirst: generation === 0, isUnwinding }, this.#known);
  }

  /** Calls back with buckets in which something may have a place now. */
  onFreed(listener: (buckets: readonly string[]) => void): void {
    this.#listeners.push(listener);
  }

  /** Runs a claim, and takes what the store answers for what is known until something changes. */
  async during<Done extends { readonly changed: Changed }>(
    limits: readonly ResolvedLimit[] | undefined,
    claim: Promise<Done>,
  ): Promise<Done> {
    if (!limits) return claim;
    const asked = this.#known.ask(limits);
    let answer: { readonly denied?: LimitDenial | undefined; readonly took: boolean } = {
      took: false,
    };
    try {
      const done = await claim;
      const { limited: denied, unchanged } = done.changed;
      answer = { denied, took: !denied && !unchanged };
      if (denied) this.#parts.deadlocks.look(done.changed.row);
      return done;
    } finally {
      this.#known.answered(asked, answer);
      if (answer.denied) this.#wait(answer.denied);
      // What was set aside meanwhile may go on: a place came back, or was not taken after all.
      this.#told(this.#known.open(limits));
    }
  }

  /** Operators have defined a limit, or deleted it. */
  changed(name: string): void {
    this.#redefined(name);
    void this.#parts.bus.send({ kind: "limits", name });
  }

  onCommit({ row, events }: Changed): void {
    const limits = row.requirements?.limits;
    if (!limits) return;
    const isNew = events[0]?.type === "WORKFLOW_CREATED";
    if (isNew) {
      this.#parts.deadlocks.look(row);
      if (row.finished_at === null) return;
    }
    const freed = limits.filter((limit) => {
      if (limit.kind === "rate") return false;
      const isKept = limit.kind === "concurrency" && limit.hold_while_waiting;
      return isKept ? row.finished_at !== null : row.session === null;
    });
    if (freed.length === 0) return;
    const buckets = freed.map(({ bucket }) => bucket);
    this.#freed(buckets);
    if (!this.#parts.replicas.hasPeers) return;
    for (const bucket of buckets) this.#news.add(bucket);
    this.#cancelNews ??= this.#parts.ports.setTimer(() => this.#tell(), TOGETHER_MS);
  }

  /** What was not heard of: everything is asked for once more. */
  refresh(): void {
    this.#parts.deadlocks.lookAt(this.#known.denials());
    this.#told(this.#known.probe());
  }

  close(): void {
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
    this.#cancelNews?.();
  }

  #redefined(name: string): void {
    this.#told(
      this.#known.forget((bucket) => {
        const { kind, of } = bucketView(bucket);
        return kind === "limit" && of === name;
      }),
    );
  }

  #freed(buckets: readonly string[]): void {
    this.#told(buckets.filter((bucket) => this.#known.freed(bucket)));
  }

  #told(buckets: readonly string[]): void {
    if (buckets.length === 0) return;
    for (const listener of this.#listeners) listener(buckets);
  }

  #wait(denied: LimitDenial): void {
    if (denied.reason !== "rate_limit") return;
    const { bucket } = denied.limit;
    const { clock, setTimer } = this.#parts.ports;
    this.#timers.get(bucket)?.();
    const cancel = setTimer(
      () => {
        this.#timers.delete(bucket);
        this.#told(this.#known.forget((one) => one === bucket));
      },
      Math.max(1, denied.free_at - clock()),
    );
    this.#timers.set(bucket, cancel);
  }

  #tell(): void {
    this.#cancelNews = undefined;
    const buckets = [...this.#news];
    this.#news.clear();
    void this.#parts.bus.send({ kind: "limits", buckets });
  }
}
