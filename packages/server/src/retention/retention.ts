/**
 * Removes what is not needed any more (EXE-98): executions that ended long ago, with their logs, inputs
 * and stored values; expired cache entries; code of deleted versions; sessions and names of workers that
 * are gone; first claims that no rate looks back to; what secrets once were; old rows of the audit log. It works in small batches, so that no checkpoint waits for it.
 */
import type { EpochWatch } from "../auth/epoch-watch.ts";
import type { EnginePorts } from "../engine-ports.ts";
import { every } from "../every.ts";
import { forgetting } from "../failpoints.ts";
import type { LedWork } from "../replicas/leadership.ts";

const DAY_MS = 86_400_000;
/** Time for requests between two batches. */
const BREATH_MS = 20;
/** So long a deleted version is kept for a start that has looked it up and is not written yet. */
const VERSION_MS = 60_000;

type Ports = Pick<EnginePorts, "store" | "values" | "clock" | "setTimer" | "config" | "log">;

interface Parts {
  readonly ports: Ports;
  readonly epochs: Pick<EpochWatch, "raised">;
}

/** How many were removed of each kind. */
type Swept = Record<
  | "executions"
  | "cache_entries"
  | "versions"
  | "sessions"
  | "workers"
  | "join_tokens"
  | "worker_credentials"
  | "limit_starts"
  | "deliveries"
  | "masks"
  | "audit_rows",
  number
>;

export class Retention implements LedWork {
  readonly #ports: Ports;
  readonly #epochs: Parts["epochs"];
  #cancel: (() => void) | undefined;
  #isLeading = false;

  constructor({ ports, epochs }: Parts) {
    this.#ports = ports;
    this.#epochs = epochs;
  }

  /** The first sweep begins at once, and the start does not wait for it. */
  async start(): Promise<void> {
    this.#isLeading = true;
    const { setTimer, config } = this.#ports;
    if (!config.retention.enabled) return;
    const pace = { firstMs: 0, ms: config.retention.sweep_interval * 1000 };
    this.#cancel?.();
    this.#cancel = every(setTimer, pace, () => this.#run());
  }

  stop(): void {
    this.#isLeading = false;
    this.#cancel?.();
  }

  /** One sweep, to its end or until another server leads. */
  async sweep(): Promise<Swept> {
    const { store, clock, config } = this.#ports;
    const { retention_days, audit_days, batch_size } = config.retention;
    const before = clock() - retention_days * DAY_MS;
    const audited = clock() - audit_days * DAY_MS;
    const unused = clock() - config.workers.offline_retention * 1000;
    const { join_token_retention, credential_renew_window } = config.workers;
    const tokens = clock() - join_token_retention * 1000;
    // Until then they can still be renewed.
    const credentials = clock() - credential_renew_window * 1000;
    const workers = async () => (await store.workers.deleteUnused(unused, batch_size)).length;
    const all = (remove: () => Promise<number>) => this.#all(batch_size, remove);
    return {
      executions: await all(() => this.#executions(before, batch_size)),
      cache_entries: await all(() => store.cache.deleteExpired(clock(), batch_size)),
      versions: await all(() => store.catalog.deleteUnused(batch_size, clock() - VERSION_MS)),
      sessions: await all(() => store.sessions.deleteEnded(before, batch_size)),
      workers: await all(workers),
      audit_rows:
        audit_days === 0 ? 0 : await all(() => store.audit.deleteBefore(audited, batch_size)),
      masks: await all(() => this.#masks(before, batch_size)),
      deliveries: await all(() => store.deliveries.deleteSettled(before, batch_size)),
      limit_starts: await all(() => store.limits.forgetStarts(batch_size)),
      join_tokens: await all(() => store.joinTokens.deleteExpired(tokens, batch_size)),
      worker_credentials: await all(() =>
        store.workerCredentials.deleteExpired(credentials, batch_size),
      ),
    };
  }

  /** What secrets were: logs that held it are gone by now (RED-2). */
  async #masks(before: number, limit: number): Promise<number> {
    const deleted = await this.#ports.store.masks.deleteRetired(before, limit);
    if (deleted > 0) this.#epochs.raised("masks");
    return deleted;
  }

  async #executions(before: number, limit: number): Promise<number> {
    const { store, values, log } = this.#ports;
    const deleted = await store.retention.deleteFinished(before, limit);
    if (deleted.length > 0 && forgetting.hasSubscribers) forgetting.publish({ of: [] });
    const gone: string[] = [];
    // The list also has values that an earlier sweep did not come to, or could not delete.
    for (const execution_id of await store.forgottenValues.list(limit)) {
      await values.deleteAll(execution_id).then(
        () => gone.push(execution_id),
        (error: unknown) => {
          const message = "could not delete the values of an execution; the next sweep tries again";
          log.warn({ err: error, execution_id }, message);
        },
      );
    }
    if (gone.length > 0) await store.forgottenValues.confirm(gone);
    return deleted.length;
  }

  /** Batch after batch, until one is not full. */
  async #all(size: number, remove: () => Promise<number>): Promise<number> {
    let total = 0;
    while (this.#isLeading) {
      const removed = await remove();
      total += removed;
      if (removed < size) break;
      await new Promise<void>((resolve) => {
        this.#ports.setTimer(resolve, BREATH_MS);
      });
    }
    return total;
  }

  async #run(): Promise<void> {
    const { log } = this.#ports;
    try {
      const swept = await this.sweep();
      if (Object.values(swept).some((removed) => removed > 0)) log.info({ ...swept }, "retention");
    } catch (error) {
      log.warn({ err: error }, "retention was broken off; the next sweep goes on");
    }
  }
}
