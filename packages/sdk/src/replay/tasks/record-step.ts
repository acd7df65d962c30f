import { type EventType, store } from "@engine/contract";
import type { Call } from "../calls/call.ts";
import type { Core, Sending } from "../core.ts";
import { metaOfStep } from "../endings/failure-stacks.ts";

/** One more event of a task call between its start and its outcome. */
interface Step {
  readonly type: EventType;
  readonly value: unknown;
}

export function recordStep(
  core: Core,
  call: Call,
  { type, value }: Step,
  onDurable?: Sending["onDurable"],
): void {
  core.emit(call, type, store(value, "value").text, { meta: metaOfStep(value), onDurable });
}

/** Settles once the step is in the log; never if that does not come to be. */
export function recordStepDurably(core: Core, call: Call, step: Step): Promise<void> {
  return new Promise((resolve) => {
    recordStep(core, call, step, () => resolve());
  });
}
