import {
  type DetailedWorkerRecord,
  isClockOff,
  type WorkerRecord,
  type WorkerStatus,
} from "@engine/contract";
import { ago, elapsed } from "./elapsed.ts";
import { metadataText } from "./metadata-text.ts";
import type { Paint, Role, Screen } from "./paint.ts";
import { byteText, reservedText, resourcesText } from "./resource-text.ts";
import { table, titled } from "./table.ts";

const MOST_PACKAGES = 10;

const MARKS = {
  online: ["●", "running"],
  unhealthy: ["!", "failed"],
  paused: ["‖", "needs_you"],
  draining: ["◌", "muted"],
  disconnected: ["◔", "needs_you"],
  offline: ["○", "muted"],
} as const satisfies Record<WorkerStatus, readonly [string, Role]>;

export function workerTable(items: readonly WorkerRecord[], { paint, now }: Screen): string {
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
export function workerBrief(record: WorkerRecord, { paint }: Screen): string {
  return titled(paint, headText(record, paint), [
    ["wanted", record.desired_state],
    ["load", slotText(record)],
  ]);
}

/**
 * One worker: its state, what it runs, what it can run, and where it is.
 *
 * @param packages Each package by name, of which there can be thousands.
 */
export function workerView(
  record: DetailedWorkerRecord,
  { paint, now }: Screen,
  packages: boolean,
): string {
  const { desired_state, healthy, services, runtime, stuck_threads } = record;
  const instant = (at: string | null) => (at === null ? undefined : `${ago(at, now)} (${at})`);
  return titled(paint, headText(record, paint), [
    ["wanted", desired_state],
    ["healthy", healthy ? "yes" : "no, it cannot keep up"],
    ["load", slotText(record)],
    ["runs", executionsText(record)],
    ["labels", joined(pairs(record.labels), "\n")],
    ["metadata", joined(metadataPairs(record), "\n")],
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
  ]);
}

/** How a worker is, as glyph and word: never colour alone. */
function workerMark(status: WorkerStatus, paint: Paint): string {
  const [glyph, role] = MARKS[status];
  return paint(role, `${glyph} ${status}`);
}

function headText({ status, name }: WorkerRecord, paint: Paint): string {
  return `${workerMark(status, paint)}  ${paint("strong", name)}`;
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

function metadataPairs({ metadata }: WorkerRecord): string[] {
  return Object.entries(metadata).map(([key, value]) => `${key}=${metadataText(value)}`);
}

function pairs(labels: WorkerRecord["labels"]): string[] {
  return Object.entries(labels).map(([key, value]) => `${key}=${value}`);
}

function joined(texts: readonly string[], separator = ", "): string | undefined {
  return texts.join(separator) || undefined;
}
