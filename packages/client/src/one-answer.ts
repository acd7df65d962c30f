import { EngineError } from "@engine/contract";
import type { Timing } from "./timing.ts";

export interface Patience {
  /** How long to wait for the answer before the connection counts as lost. */
  readonly ms: number;
  /** The caller's own end of it. */
  readonly signal: AbortSignal | undefined;
  readonly timing: Timing;
}

/**
 * Asks once: the answer, or the reason why there is none for now, which another try may mend. A
 * refusal is thrown, and so is the caller's reason to leave.
 */
export async function oneAnswer<T>(
  ask: (signal: AbortSignal) => Promise<T>,
  { ms, signal, timing }: Patience,
): Promise<T | EngineError> {
  const silence = new AbortController();
  const callOff = timing.setTimer(() => {
    silence.abort(new EngineError("unavailable", `no answer came within ${ms} ms`));
  }, ms);
  const either = signal ? AbortSignal.any([signal, silence.signal]) : silence.signal;
  try {
    return await ask(either);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof EngineError && error.code === "unavailable") return error;
    throw error;
  } finally {
    callOff();
  }
}
