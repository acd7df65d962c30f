/** What workers measure: how much of it they may tell, and what the engine's own figures mean. */
import * as z from "zod";
import { isAttributeKey } from "../routing/attribute-keys.ts";

const MOST_METRICS = 64;
const METRIC_LENGTH = 128;

/** The figures of a worker as a heartbeat brings them: a bound for what a server has to keep. */
export const WorkerMetrics = z
  .record(z.string().min(1).max(METRIC_LENGTH), z.number())
  .refine(
    (metrics) => Object.keys(metrics).length <= MOST_METRICS,
    `at most ${MOST_METRICS} metrics`,
  );
export type WorkerMetrics = z.infer<typeof WorkerMetrics>;

/** Keys that only the engine measures by. */
export const METRIC_PREFIX = "engine.";

/** Samples that a figure over several of them is made of. */
export const METRIC_WINDOW = 128;

interface BuiltinMetric {
  readonly unit: string;
  /** What it says, and when a worker does not tell it. */
  readonly meaning: string;
}

const BUILTINS = {
  "engine.running_executions": {
    unit: "executions",
    meaning: "Executions that hold a slot now.",
  },
  "engine.slots_free": {
    unit: "slots",
    meaning: "Slots that nothing holds now, 0 while it drains. Absent where slots are unlimited.",
  },
  "engine.loop_lag_seconds": {
    unit: "seconds",
    meaning:
      "The longest time that the main loop kept others waiting, in the newest probe of a second. Absent before the first probe.",
  },
  "engine.loop_lag_p95_seconds": {
    unit: "seconds",
    meaning: "The 95th percentile of the last 128 probes. Absent before the first.",
  },
  "engine.cpu_percent": {
    unit: "percent",
    meaning:
      "How much of all processors of the machine was busy, with whatever, between the two newest looks, a second or more apart: 0 to 100. Absent before the second look, and where the machine does not say.",
  },
  "engine.memory_available_bytes": {
    unit: "bytes",
    meaning: "Memory that is free for it, as its resources say.",
  },
  "engine.load_avg_1m": {
    unit: "processes",
    meaning: "Load of the machine over a minute. Absent on Windows, which has none.",
  },
  "engine.failure_rate": {
    unit: "share from 0 to 1",
    meaning:
      "Of the last 128 executions that completed or failed here, those that failed. Absent before the first.",
  },
  "engine.crash_rate": {
    unit: "share from 0 to 1",
    meaning:
      "Of the last 128 executions that ended, paused, parked or were lost here, those whose runner died or was ended because it did not answer. Absent before the first.",
  },
  "engine.executions_per_minute": {
    unit: "executions per minute",
    meaning:
      "Executions that ended here in the last minute; where they were more than 128, by the time that the last 128 took.",
  },
  "engine.execution_duration_p95_seconds": {
    unit: "seconds",
    meaning:
      "The 95th percentile of the last 128 executions that ended here, each from its last assignment to its end. Absent before the first.",
  },
  "engine.startup_overhead_seconds": {
    unit: "seconds",
    meaning:
      "From an assignment to the first checkpoint of its copy: the median of the last 128. Absent before the first.",
  },
  "engine.checkpoint_rtt_p95_seconds": {
    unit: "seconds",
    meaning:
      "From a request with checkpoints to its answer: the 95th percentile of the last 128. Absent before the first.",
  },
  "engine.warm_modules": {
    unit: "bundles",
    meaning: "Bundles that a shared runner has been given: an execution of theirs loads no code.",
  },
  "engine.warm_executions": {
    unit: "executions",
    meaning: "Executions that wait in memory, without a slot.",
  },
} satisfies Record<string, BuiltinMetric>;

export type BuiltinMetricName = keyof typeof BUILTINS;
/** The engine's own figures of a worker (WMD-4), by name. */
export const BUILTIN_METRICS: Readonly<Record<BuiltinMetricName, BuiltinMetric>> = BUILTINS;

const MOST_CUSTOM = 32;
const CUSTOM_LENGTH = 64;

/** A key that is left out, and why. */
export interface LeftOutMetric {
  readonly key: string;
  readonly why: string;
}

export interface ReadMetrics {
  readonly metrics: ReadonlyMap<string, number>;
  /** Keys that break a limit: no value makes them good. */
  readonly dropped: readonly LeftOutMetric[];
  /** Keys that have no usable value just now. */
  readonly failed: readonly LeftOutMetric[];
}

/** What of a metrics provider's record counts (WMD-5), in the order in which it was given. */
export function readCustomMetrics(given: Iterable<readonly [string, unknown]>): ReadMetrics {
  const metrics = new Map<string, number>();
  const dropped: LeftOutMetric[] = [];
  const failed: LeftOutMetric[] = [];
  for (const [key, value] of given) {
    const why = refusal(key, metrics.size + failed.length);
    if (why !== undefined) dropped.push({ key, why });
    else if (typeof value === "number" && Number.isFinite(value)) metrics.set(key, value);
    else failed.push({ key, why: `expected a finite number; got ${shown(value)}` });
  }
  return { metrics, dropped, failed };
}

function refusal(key: string, taken: number): string | undefined {
  if (key.startsWith(METRIC_PREFIX)) {
    return `keys beginning "${METRIC_PREFIX}" belong to the engine; choose another`;
  }
  if (key.length > CUSTOM_LENGTH || !isAttributeKey("label", key)) {
    return `expected 1 to ${CUSTOM_LENGTH} letters, digits, '.', '_' or '-', beginning and ending with a letter or a digit`;
  }
  if (taken >= MOST_CUSTOM) return `a provider may give ${MOST_CUSTOM} metrics; this one is beyond`;
  return undefined;
}

function shown(value: unknown): string {
  return typeof value === "number" ? String(value) : value === null ? "null" : typeof value;
}
