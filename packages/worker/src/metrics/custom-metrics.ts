import { readCustomMetrics } from "@engine/contract";
import type { World } from "../world.ts";
import type { Collected } from "./provider-calls.ts";

/** Failures in a row through which the last values are told. */
const KEPT_THROUGH = 3;
/** Keys that the log names: a provider may make up new ones for ever. */
const MOST_NAMED = 100;

export interface CustomMetricsOptions extends Pick<World, "setTimer" | "log" | "life"> {
  readonly intervalMs: number;
  collect(): Promise<Collected>;
}

interface Kept {
  readonly value: number;
  /** Calls in a row that gave no new one. */
  readonly failures: number;
}

/** The metrics of a provider, asked for regularly (WMD-5), with the last values through its failures. */
export class CustomMetrics {
  readonly #options: CustomMetricsOptions;
  #kept: ReadonlyMap<string, Kept> = new Map();
  /** Calls in a row that failed as a whole. */
  #failures = 0;
  readonly #named = new Set<string>();
  #isAsking = false;

  constructor(options: CustomMetricsOptions) {
    this.#options = options;
    this.#ask();
  }

  get values(): Record<string, number> {
    return Object.fromEntries([...this.#kept].map(([key, { value }]) => [key, value]));
  }

  #ask(): void {
    const { setTimer, intervalMs, life } = this.#options;
    if (life.aborted) return;
    const cancel = setTimer(() => {
      life.removeEventListener("abort", cancel);
      this.#ask();
    }, intervalMs);
    life.addEventListener("abort", cancel, { once: true });
    // A call may take longer than an interval: the next one waits for its turn.
    if (!this.#isAsking) void this.#collect();
  }

  async #collect(): Promise<void> {
    this.#isAsking = true;
    const collected = await this.#options.collect();
    this.#isAsking = false;
    if (this.#options.life.aborted) return;
    if (collected.kind === "failed") this.#failed(collected.why);
    else this.#took(collected);
  }

  #failed(why: string): void {
    const { log } = this.#options;
    this.#failures++;
    const before = this.#kept;
    this.#kept = new Map([...before].flatMap(([key, kept]) => aged(key, kept)));
    if (this.#failures === 1) {
      log.warn(
        { error: why },
        `the metrics provider failed: its last values are told through ${KEPT_THROUGH} failures in a row`,
      );
    }
    if (before.size > 0 && this.#kept.size === 0) {
      log.warn(
        { error: why, failures: this.#failures },
        "the metrics provider keeps failing: its metrics are not told until it gives some again",
      );
    }
  }

  #took({ entries, beyond }: Extract<Collected, { kind: "values" }>): void {
    if (this.#failures > 0) this.#options.log.info({}, "the metrics provider gives metrics again");
    this.#failures = 0;
    const { metrics, dropped, failed } = readCustomMetrics(entries);
    const kept = new Map<string, Kept>();
    for (const [key, value] of metrics) {
      kept.set(key, { value, failures: 0 });
      // One that fails again is news.
      this.#named.delete(key);
    }
    for (const { key, why } of failed) {
      const last = this.#kept.get(key);
      for (const [, aging] of last ? aged(key, last) : []) kept.set(key, aging);
      this.#name(key, why, "a metric of the metrics provider has no usable value");
    }
    for (const { key, why } of dropped) {
      this.#name(key, why, "a metric of the metrics provider is dropped");
    }
    if (beyond > 0) {
      this.#name("", `${beyond} more`, "further metrics of the metrics provider are dropped");
    }
    this.#kept = kept;
  }

  /** Warns once for a key. */
  #name(key: string, why: string, message: string): void {
    if (this.#named.has(key) || this.#named.size >= MOST_NAMED) return;
    this.#named.add(key);
    const isLast = this.#named.size === MOST_NAMED;
    const more = isLast ? "; further keys are not named" : "";
    this.#options.log.warn({ key, error: why }, `${message}${more}`);
  }
}

/** What is left of a value after a call that gave no new one. */
function aged(key: string, { value, failures }: Kept): [string, Kept][] {
  return failures < KEPT_THROUGH ? [[key, { value, failures: failures + 1 }]] : [];
}
