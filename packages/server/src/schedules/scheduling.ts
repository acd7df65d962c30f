import type { EnginePorts } from "../engine-ports.ts";
import type { Bus } from "../replicas/bus.ts";
import { Firing, type FiringParts } from "./firing.ts";
import { ScheduledStarts, type ScheduledStartsParts } from "./scheduled-starts.ts";
import { Scheduler } from "./scheduler.ts";
import { Schedules } from "./schedules.ts";

export interface SchedulingParts {
  readonly ports: EnginePorts;
  readonly bus: Pick<Bus, "send" | "listen" | "onMissed">;
  readonly starts: ScheduledStartsParts["starts"];
  readonly cancel: FiringParts["cancel"];
}

/** Everything about schedules: what callers do with them, and what fires them. */
export interface Scheduling {
  readonly schedules: Schedules;
  /** Runs on the server that leads; on two at once it is no harm. */
  readonly scheduler: Scheduler;
  /** A schedule was written here: whichever server leads looks at them. */
  readonly changed: () => void;
}

export function createScheduling(parts: SchedulingParts): Scheduling {
  const { ports, bus, cancel } = parts;
  const starts = new ScheduledStarts({ starts: parts.starts, authorize: ports.authorizeSchedule });
  const firing = new Firing({ ports, starts, cancel });
  const scheduler = new Scheduler({ ports, firing });
  const changed = () => {
    void scheduler.refresh();
    void bus.send({ kind: "schedules" });
  };
  bus.listen(({ kind }) => {
    if (kind === "schedules") void scheduler.refresh();
  });
  bus.onMissed(() => void scheduler.refresh());
  return { schedules: new Schedules({ ports, starts, changed }), scheduler, changed };
}
