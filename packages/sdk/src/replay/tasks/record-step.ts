import { type EventType, store } from "@engine/contract";
import type { Call } from "../calls/call.ts";
import type { Core } from "../core.ts";
import { metaOfStep } from "../endings/failure-stacks.ts";

/** One more event of a task call between its start and its outcome. */
interface Step {
  readonly type: EventType;
  readonly value: unknown;
}

export function recordStep(core: Core, call: Call, { type, value }: Step): void {
  const meta = metaOfStep(value);
  core.emit(call, type, store(value, "value").text, meta && { meta });
}

/** Settles once the step is in the log; never if that does not come to be. */
export function recordStepDurably(core: Core, call: Call, { type, value }: Step): Promise<void> {
  const { text } = store(value, "value");
  const meta = metaOfStep(value);
  return new Promise((resolve) => {
    core.emit(call, type, text, { onDurable: () => resolve(), ...(meta && { meta }) });
  });
}
