import type { EnginePorts } from "../engine-ports.ts";
import { Firing, type FiringParts } from "./firing.ts";
import type { ScheduleChanges } from "./schedule-changes.ts";
import { ScheduledStarts, type ScheduledStartsParts } from "./scheduled-starts.ts";
import { Scheduler } from "./scheduler.ts";
import { Schedules } from "./schedules.ts";

export interface SchedulingParts {
  readonly ports: EnginePorts;
  readonly starts: ScheduledStartsParts["starts"];
  readonly changes: ScheduleChanges;
  readonly cancel: FiringParts["cancel"];
}

/** What callers do with schedules, and what fires them. */
export function createScheduling({ ports, changes, cancel, ...parts }: SchedulingParts): {
  readonly schedules: Schedules;
  readonly scheduler: Scheduler;
} {
  const starts = new ScheduledStarts({ starts: parts.starts, authorize: ports.authorizeSchedule });
  const firing = new Firing({ ports, starts, cancel });
  const scheduler = new Scheduler({ ports, firing });
  changes.listen(() => void scheduler.wake());
  const schedules = new Schedules({ ports, starts, changed: () => changes.tell() });
  return { schedules, scheduler };
}
