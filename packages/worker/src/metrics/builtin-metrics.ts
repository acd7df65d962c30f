import { type BuiltinMetricName, isTerminal, METRIC_WINDOW, type State } from "@engine/contract";
import type { CpuTime, MachineLoad } from "../machine/machine-load.ts";
import type { World } from "../world.ts";
import { SampleWindow } from "./sample-window.ts";

const MINUTE_MS = 60_000;
/** Over less time a share of processors says nothing. */
const CPU_LOOK_MS = 1_000;

export interface BuiltinMetricsOptions extends Pick<World, "monotonic"> {
  /** Absent where there is no machine to look at. */
  readonly load?: MachineLoad | undefined;
}

/** What the parts of the worker know at the moment of a heartbeat. */
export interface WorkerGauges {
  readonly running: number;
  /** Undefined where slots are unlimited. */
  readonly slotsFree: number | undefined;
  readonly memoryAvailable: number | undefined;
  readonly warmModules: number;
  readonly warmExecutions: number;
}

/** An execution on this worker; who it is does not matter. What is noted of it is kept on itself. */
export interface Held {
  /** When it was assigned, by the clock that nobody sets. */
  assignedAt?: number | undefined;
  /** Its copy has not written anything yet. */
  isStarting?: boolean | undefined;
}

/**
 * The engine's own figures of a worker (WMD-4); `BUILTIN_METRICS` says what each means. While it works
 * nothing but samples are taken; what they come to is worked out for a heartbeat.
 */
export class BuiltinMetrics {
  readonly #options: BuiltinMetricsOptions;
  readonly #lags = new SampleWindow();
  /** 1 for each execution that failed, 0 for each that completed. */
  readonly #failures = new SampleWindow();
  /** 1 for each execution that was lost with its runner, 0 for each that left by itself. */
  readonly #crashes = new SampleWindow();
  readonly #ends = new SampleWindow();
  readonly #durations = new SampleWindow();
  readonly #startups = new SampleWindow();
  readonly #requests = new SampleWindow();
  #cpuLookedAt: number;
  #cpu: CpuTime | undefined;
  #cpuPercent: number | undefined;

  constructor(options: BuiltinMetricsOptions) {
    this.#options = options;
    this.#cpuLookedAt = options.monotonic();
    this.#cpu = options.load?.cpu();
  }

  probed(lagMs: number): void {
    this.#lags.push(lagMs);
  }

  assigned(held: Held): void {
    held.assignedAt = this.#options.monotonic();
    held.isStarting = true;
  }

  /** Its copy has something for the log. */
  wrote(held: Held): void {
    if (!held.isStarting) return;
    held.isStarting = false;
    const at = held.assignedAt;
    if (at !== undefined) this.#startups.push(this.#options.monotonic() - at);
  }

  /** The log says that it has ended, or waits: its slot is free. */
  left(held: Held, state: State): void {
    this.#crashes.push(0);
    if (!isTerminal(state)) return;
    const now = this.#options.monotonic();
    const at = held.assignedAt;
    this.#ends.push(now);
    if (at !== undefined) this.#durations.push(now - at);
    // What somebody cancelled says nothing of how its code fares here.
    if (state !== "CANCELLED") this.#failures.push(state === "FAILED" ? 1 : 0);
  }

  /** Its runner has died, or was ended because it did not answer. */
  lost(): void {
    this.#crashes.push(1);
  }

  /** Measures a request with checkpoints; one without an answer does not count. */
  async timed<T>(request: () => Promise<T>): Promise<T> {
    const sentAt = this.#options.monotonic();
    const answer = await request();
    this.#requests.push(this.#options.monotonic() - sentAt);
    return answer;
  }

  /** Those that can be told now. */
  values(gauges: WorkerGauges): Record<string, number> {
    const all: Record<BuiltinMetricName, number | undefined> = {
      "engine.running_executions": gauges.running,
      "engine.slots_free": gauges.slotsFree,
      "engine.loop_lag_seconds": seconds(this.#lags.newest),
      "engine.loop_lag_p95_seconds": seconds(this.#lags.percentile(0.95)),
      "engine.cpu_percent": this.#lookAtCpu(),
      "engine.memory_available_bytes": gauges.memoryAvailable,
      "engine.load_avg_1m": this.#options.load?.average(),
      "engine.failure_rate": this.#failures.mean,
      "engine.crash_rate": this.#crashes.mean,
      "engine.executions_per_minute": this.#perMinute(),
      "engine.execution_duration_p95_seconds": seconds(this.#durations.percentile(0.95)),
      "engine.startup_overhead_seconds": seconds(this.#startups.percentile(0.5)),
      "engine.checkpoint_rtt_p95_seconds": seconds(this.#requests.percentile(0.95)),
      "engine.warm_modules": gauges.warmModules,
      "engine.warm_executions": gauges.warmExecutions,
    };
    return Object.fromEntries(
      Object.entries(all).filter((entry): entry is [string, number] => entry[1] !== undefined),
    );
  }

  /** The window may be shorter than a minute: then it says how fast the last ones came. */
  #perMinute(): number {
    const now = this.#options.monotonic();
    const recent = this.#ends.countFrom(now - MINUTE_MS);
    if (recent < METRIC_WINDOW) return recent;
    const oldest = this.#ends.percentile(0) ?? now;
    return (recent * MINUTE_MS) / Math.max(1, now - oldest);
  }

  #lookAtCpu(): number | undefined {
    const { load, monotonic } = this.#options;
    const now = monotonic();
    if (now - this.#cpuLookedAt < CPU_LOOK_MS) return this.#cpuPercent;
    const [before, after] = [this.#cpu, load?.cpu()];
    this.#cpuLookedAt = now;
    this.#cpu = after;
    if (before && after && after.total > before.total) {
      const share = (after.busy - before.busy) / (after.total - before.total);
      this.#cpuPercent = 100 * Math.min(1, Math.max(0, share));
    }
    return this.#cpuPercent;
  }
}

function seconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1000;
}
