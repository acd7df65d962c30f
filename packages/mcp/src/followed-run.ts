import { EngineError, isTerminal, type ServiceRun } from "@engine/contract";
import type { CallToolResult } from "@modelcontextprotocol/server";
import { ProgressNotes, type ProgressNotesOptions, type SetTimer } from "./progress.ts";
import { acceptedResult, refusalResult, runResult } from "./results.ts";
import type { AskedResume, AskedRun, RunFrame, ServiceCalls } from "./service-calls.ts";
import type { EndpointNames } from "./tool-names.ts";
import { untilAborted } from "./until-aborted.ts";

/** Who waits for a run, and for how long. */
export interface Waiter {
  readonly calls: ServiceCalls;
  readonly names: EndpointNames;
  /** Ends the wait, nothing else: the caller has gone (MCP-13). */
  readonly left: AbortSignal;
  /** The caller wants the execution cancelled (MCP-13). */
  readonly cancelled: AbortSignal;
  /** Seconds; 0: as long as it takes (MCP-11). */
  readonly timeout: number;
  /** Told of the progress of tasks, where the caller asked for that. */
  readonly progress?: Pick<ProgressNotesOptions, "token" | "send"> | undefined;
  /** Milliseconds, from any beginning. */
  readonly clock: () => number;
  readonly setTimer: SetTimer;
}

/** A sync run or resume, and the run itself where one is known. */
export interface Followed {
  readonly result: CallToolResult;
  readonly run?: ServiceRun;
}

/**
 * Runs or resumes and waits until it ends, pauses, or the wait is over (MCP-9, MCP-11).
 *
 * @throws EngineError for what was refused before an execution was known.
 */
export async function followRun(asked: AskedRun | AskedResume, waiter: Waiter): Promise<Followed> {
  const { progress, clock, setTimer, timeout } = waiter;
  const deadline = new AbortController();
  const stopTimer = timeout > 0 ? setTimer(() => deadline.abort(), timeout * 1000) : undefined;
  const notes = progress && new ProgressNotes({ ...progress, clock, setTimer });
  try {
    return await new FollowedRun(asked, waiter, notes).wait(deadline.signal);
  } finally {
    stopTimer?.();
    notes?.stop();
  }
}

class FollowedRun {
  readonly #asked: AskedRun | AskedResume;
  readonly #waiter: Waiter;
  readonly #notes: ProgressNotes | undefined;
  readonly #over = new AbortController();
  #run: ServiceRun | undefined;
  #isCancelled = false;

  constructor(asked: AskedRun | AskedResume, waiter: Waiter, notes: ProgressNotes | undefined) {
    this.#asked = asked;
    this.#waiter = waiter;
    this.#notes = notes;
  }

  async wait(deadline: AbortSignal): Promise<Followed> {
    const { calls, left, cancelled } = this.#waiter;
    const signal = AbortSignal.any([this.#over.signal, deadline, left]);
    const onCancel = () => this.#cancel();
    cancelled.addEventListener("abort", onCancel, { once: true });
    if (cancelled.aborted) onCancel();
    try {
      for await (const frame of untilAborted(calls.follow(this.#asked, signal), signal)) {
        if (this.#take(frame)) break;
      }
    } catch (error) {
      return this.#broken(error);
    } finally {
      cancelled.removeEventListener("abort", onCancel);
      // A source that was left early need not go on reading.
      this.#over.abort();
    }
    return this.#outcome(deadline.aborted);
  }

  /** Whether that was the last frame that matters. */
  #take(frame: RunFrame): boolean {
    if (frame.kind === "progress") {
      this.#notes?.add(frame.value);
      return false;
    }
    this.#run = frame.run;
    if (this.#isCancelled) this.#cancel();
    return frame.run.state === "PAUSED" || isTerminal(frame.run.state);
  }

  /** Before the execution is known, the wait goes on until it is. */
  #cancel(): void {
    this.#isCancelled = true;
    const run = this.#run;
    if (!run) return;
    const { endpoint } = this.#asked;
    const asked = { endpoint, execution_id: run.execution_id };
    // The caller listens no longer: whether it is refused interests nobody.
    this.#waiter.calls.cancel(asked).catch(() => {});
    this.#over.abort();
  }

  #outcome(isTooLate: boolean): Followed {
    const { names, timeout } = this.#waiter;
    const run = this.#run;
    if (run) return { result: runResult(run, names), run };
    const refusal = isTooLate
      ? { code: "upstream_timeout", message: `no answer within ${timeout} seconds` }
      : { code: "upstream_unreachable", message: "the answer ended before it told anything" };
    return { result: refusalResult(refusal) };
  }

  /** A stream that broke after the execution was known, which goes on. */
  #broken(error: unknown): Followed {
    const run = this.#run;
    if (!run || !(error instanceof EngineError)) throw error;
    const { content } = acceptedResult(run, this.#waiter.names);
    const result = refusalResult(error, run.execution_id);
    return { result: { ...result, content: [...result.content, ...content] } };
  }
}
