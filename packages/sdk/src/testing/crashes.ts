import { EngineError, type Event, isOutcome, nearest } from "@engine/contract";

/** The calls after whose outcome a copy is to be lost. */
export class Crashes {
  #planned: string[] = [];
  /** How far each execution's log has been looked at. */
  readonly #seen: Map<string, number> = new Map();

  after(taskCallId: string): void {
    if (typeof taskCallId !== "string" || !/~\d+$/.test(taskCallId)) {
      throw new TypeError(
        `crashAfter() takes the id of a call, such as "charge~1" for the first call of task charge; got ${JSON.stringify(taskCallId)}`,
      );
    }
    this.#planned.push(taskCallId);
  }

  /** Whether the copy that has just recorded something is lost. Each plan comes true once. */
  strikes(executionId: string, log: readonly Event[]): boolean {
    const fresh = log.slice(this.#seen.get(executionId) ?? 0);
    this.#seen.set(executionId, log.length);
    const before = this.#planned.length;
    for (const { type, source_id } of fresh) {
      const i = isOutcome(type) ? this.#planned.indexOf(source_id) : -1;
      if (i >= 0) this.#planned.splice(i, 1);
    }
    return this.#planned.length < before;
  }

  /** Refuses to pass over a plan that can come true no more. @param log Of what has ended. */
  report(log: readonly Event[]): void {
    const [missed] = this.#planned;
    if (missed === undefined) return;
    this.#planned = [];
    const ended = log.filter(({ type }) => isOutcome(type)).map(({ source_id }) => source_id);
    const near = nearest(missed, ended);
    const hint = near === undefined || near === missed ? "" : `; did you mean ${near}?`;
    const which = near === missed ? "no second call of that id" : "no call of that id";
    const message = `crashAfter("${missed}") never came about: ${which} had an outcome${hint} (those that had: ${ended.join(", ") || "none"})`;
    throw new EngineError("not_found", message, { details: { resource: "call", ended } });
  }
}
