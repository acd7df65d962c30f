import type { Event, EventType } from "@engine/contract";
import type { Kinds, Page } from "./port.ts";

export interface LoggedEvent {
  readonly event: Event;
  readonly recorded_at: number;
}

/** A page of a log. `after` reads upwards from it, `before` the newest below it (EXE-86). */
export interface LogPage {
  readonly after?: number | undefined;
  readonly before?: number | undefined;
  readonly limit?: number | undefined;
}

/** Some events of a log, by their type (EXE-86). */
export interface EventFilter {
  readonly types: readonly EventType[];
  /** Only those behind this `seq`. */
  readonly after: number;
  readonly limit: number;
}

/** A page of them, oldest first. */
export interface EventPage extends Page<LoggedEvent> {
  /** How many of all matches lie before the page. */
  readonly before: number;
}

/** The events of executions. */
export interface LogPort {
  read(execution_id: string, page?: LogPage): Promise<readonly LoggedEvent[]>;
  /** Looks through the log where it lies: what does not match is not loaded. */
  ofTypes(execution_id: string, filter: EventFilter): Promise<EventPage>;
}

export const LOG: Kinds<LogPort> = {
  read: "read",
  ofTypes: "read",
};
