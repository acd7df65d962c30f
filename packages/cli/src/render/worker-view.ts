import {
  type DetailedWorkerRecord,
  isClockOff,
  type Labels,
  type WorkerRecord,
} from "@engine/contract";
import { ago, elapsed } from "./elapsed.ts";
import type { Paint } from "./paint.ts";
import { byteText, reservedText, resourcesText } from "./resource-text.ts";
import { fields, lines, table } from "./table.ts";
import { workerMark } from "./worker-mark.ts";

const MOST_PACKAGES = 10;

export function workerTable(items: readonly WorkerRecord[], paint: Paint, now: number): string {
  const isAnyOff = items.some((item) => isClockOff(item.clock_offset_ms));
  return table(
    ["STATUS", "WORKER", "LOAD", "LABELS", "LAST SEEN", ...(isAnyOff ? ["CLOCK"] : [])],
    items.map((item) => [
      workerMark(item.status, paint),
      item.name,
      item.status === "offline" && item.load === 0 ? "" : loadText(item),
      pairs(item.labels).join(", "),
      item.last_seen_at === null ? "never" : ago(item.last_seen_at, now),
      ...(isAnyOff ? [clockText(item) ?? ""] : []),
    ]),
    paint,
  );
}

/** One worker in short, as an answer to what was asked of it. */
export function workerBrief(record: WorkerRecord, paint: Paint): string {
  return (
    headText(record, paint) +
    fields(
      [
        ["wanted", record.desired_state],
        ["load", slotText(record)],
      ],
      paint,
    )
  );
}

export interface WorkerScreen {
  readonly now: number;
  /** Each package by name, of which there can be thousands. */
  readonly packages: boolean;
}

/** One worker: its state, what it runs, what it can run, and where it is. */
export function workerView(
  record: DetailedWorkerRecord,
  paint: Paint,
  { now, packages }: WorkerScreen,
): string {
  const { desired_state, healthy, services, runtime, stuck_threads } = record;
  const instant = (at: string | null) => (at === null ? undefined : `${ago(at, now)} (${at})`);
  return (
    headText(record, paint) +
    fields(
      [
        ["wanted", desired_state],
        ["healthy", healthy ? "yes" : "no, it cannot keep up"],
        ["load", slotText(record)],
        ["runs", executionsText(record)],
        ["labels", joined(pairs(record.labels), "\n")],
        ["offers", joined(services.offered)],
        ["may use", joined(services.granted)],
        ["runners", runnersText(record)],
        ["machine", record.resources ? resourcesText(record.resources) : undefined],
        ["reserved", reservedText(record.reserved)],
        ["packages", packagesText(record, packages)],
        ["metrics", metricsText(record.metrics)],
        ["stuck threads", stuck_threads > 0 ? `${stuck_threads}, replaced` : undefined],
        ["clock", clockText(record)],
        ["dispatch", record.dispatch ?? undefined],
        ["process", processText(record)],
        ["platform", runtime ? `${runtime.os} ${runtime.arch}, node ${runtime.node}` : undefined],
        ["engine", record.engine_version ?? undefined],
        ["registered", instant(record.registered_at)],
        ["connected", instant(record.connected_at)],
        ["last seen", instant(record.last_seen_at)],
      ],
      paint,
    )
  );
}

function headText({ status, name }: WorkerRecord, paint: Paint): string {
  return lines([`${workerMark(status, paint)}  ${paint("strong", name)}`]);
}

/** `3/64`; without a limit the number alone. */
function loadText({ load, slots }: WorkerRecord): string {
  return slots === 0 ? String(load) : `${load}/${slots}`;
}

function slotText({ load, slots, slots_free }: WorkerRecord): string {
  return slots_free === null
    ? `${load}, without a limit`
    : `${load} of ${slots} slots, ${slots_free} free`;
}

function executionsText({ executions, load }: DetailedWorkerRecord): string | undefined {
  if (executions.length === 0) return undefined;
  const more = load - executions.length;
  return [...executions, ...(more > 0 ? [`and ${more} more`] : [])].join("\n");
}

function runnersText({ runners, default_runner }: WorkerRecord): string | undefined {
  if (runners.length <= 1) return joined(runners);
  return `${runners.join(", ")}; ${default_runner} unless a workflow asks for another`;
}

function packagesText({ packages }: WorkerRecord, all: boolean): string | undefined {
  if (packages.length === 0) return undefined;
  if (!all && packages.length > MOST_PACKAGES) {
    return `${packages.length}; --packages lists them`;
  }
  return packages.map(({ name, version }) => `${name} ${version}`).join("\n");
}

/** Undefined when it is right, or not known. */
function clockText({ clock_offset_ms }: WorkerRecord): string | undefined {
  if (clock_offset_ms === null || !isClockOff(clock_offset_ms)) return undefined;
  return `${elapsed(Math.abs(clock_offset_ms))} ${clock_offset_ms > 0 ? "ahead" : "behind"}`;
}

function metricsText(metrics: WorkerRecord["metrics"]): string | undefined {
  const entries = Object.entries(metrics).sort(([a], [b]) => (a < b ? -1 : 1));
  return joined(
    entries.map(([name, value]) => `${name} ${/bytes/.test(name) ? byteText(value) : value}`),
    "\n",
  );
}

function processText({ host, pid }: WorkerRecord): string | undefined {
  return host === null ? undefined : `${host}, pid ${pid}`;
}

function pairs(labels: Labels): string[] {
  return Object.entries(labels).map(([key, value]) => `${key}=${value}`);
}

function joined(texts: readonly string[], separator = ", "): string | undefined {
  return texts.join(separator) || undefined;
}
