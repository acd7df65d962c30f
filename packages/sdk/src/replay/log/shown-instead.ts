import { decode, type EventType, SENSITIVE } from "@engine/contract";

const MARKER = JSON.stringify(SENSITIVE);

/**
 * What readers of the log see in place of a value of a sensitive call; undefined where the value is
 * shown. Failures hold nothing of it: they were told without their messages.
 */
export function shownInstead(type: EventType, value: string): string | undefined {
  switch (type) {
    case "TASK_STARTED":
    case "TASK_COMPLETED":
    case "TASK_FALLBACK_COMPLETED":
      return MARKER;
    case "TASK_RETRY_COMPLETED": {
      const { attempt, max_attempts } = decode(JSON.parse(value)) as Record<string, unknown>;
      return JSON.stringify({ attempt, max_attempts, output: SENSITIVE });
    }
    default:
      return undefined;
  }
}
