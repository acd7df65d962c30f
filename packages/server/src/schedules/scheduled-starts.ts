import { createHash } from "node:crypto";
import {
  EngineError,
  encode,
  formatInstant,
  type NewExecution,
  type ScheduleRow,
} from "@engine/contract";
import type { Changed } from "@engine/store";
import type { Catalog } from "../catalog/catalog.ts";
import { checkInput } from "../catalog/input/input-check.ts";
import { pinTo } from "../starts/version-pin.ts";
import type { EnginePorts } from "../engine-ports.ts";
import { parkTtlMs } from "../executions/park-ttl.ts";
import type { AuthorizeSchedule } from "./authorize-schedule.ts";

export interface ScheduledStartsParts {
  readonly ports: Pick<EnginePorts, "clock" | "ids" | "seed" | "config">;
  readonly catalog: Catalog;
  /** Creates an execution; with a free worker the same commit gives it to that worker. */
  readonly create: (fresh: NewExecution) => Promise<Changed>;
  /** Accounts are stored as given and not looked at when absent. */
  readonly authorize?: AuthorizeSchedule | undefined;
}

/** Starts executions of schedules; every check of a start is made again at each (EXE-74). */
export class ScheduledStarts {
  readonly #parts: ScheduledStartsParts;

  constructor(parts: ScheduledStartsParts) {
    this.#parts = parts;
  }

  /** The start that is due at an instant: of two on any replicas one creates it (EXE-75). */
  due(schedule: ScheduleRow, instant: number): Promise<Changed> {
    const unique = uniqueOf(schedule, instant);
    return this.#start(schedule, { instant, unique });
  }

  /** One more start, asked for by somebody. */
  now(schedule: ScheduleRow): Promise<Changed> {
    return this.#start(schedule, { instant: null });
  }

  /** What has to be right for it to start: the account, the workflow and its input. */
  async check(
    schedule: Pick<ScheduleRow, "name" | "namespace" | "workflow" | "version" | "run_as" | "input">,
    path = "input",
  ): Promise<Pick<NewExecution, "by"> & ReturnType<typeof pinTo>> {
    const { namespace, workflow, version, input } = schedule;
    const { catalog, authorize } = this.#parts;
    const found = await catalog.resolve(namespace, workflow, version ?? undefined);
    await checkInput(found.record.input_schema, encode(input, path), path);
    const by = (await authorize?.(schedule)) ?? null;
    return { ...pinTo(found), by };
  }

  async #start(
    schedule: ScheduleRow,
    { instant, unique }: { instant: number | null; unique?: NewExecution["unique"] },
  ): Promise<Changed> {
    const { ports, create } = this.#parts;
    const { name } = schedule;
    const at = instant === null ? {} : { at: formatInstant(instant) };
    const checked = await this.check(schedule);
    return create({
      ...checked,
      execution_id: ports.ids(),
      input: encode(schedule.input, "input"),
      trigger: { kind: "schedule", id: name, ...at },
      schedule: { name, scheduled_for: instant },
      ...(unique && { unique }),
      park_ttl_ms: parkTtlMs(ports.config),
      seed: ports.seed(),
      now: ports.clock(),
    });
  }
}

/** Errors that say nothing about the schedule: the start is made a moment later. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof EngineError)) return true;
  return error.code === "unavailable" || error.code === "internal";
}

export function uniqueOf(
  { id }: Pick<ScheduleRow, "id">,
  instant: number,
): { key: string; request_hash: string } {
  const key = `schedule:${id}:${instant}`;
  return { key, request_hash: createHash("sha256").update(key).digest("hex") };
}
