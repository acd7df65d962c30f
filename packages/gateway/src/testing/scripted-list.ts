import { EngineError, type ErrorCode, notFound } from "@engine/contract";
import { Condition } from "../condition.ts";
import { EndpointList, type FetchedList, type ListRequest } from "../endpoint-list.ts";
import { ManualTiming, settled } from "./manual-timing.ts";
import { resolvedService } from "./resolved-service.ts";

interface Asked extends ListRequest {
  /** When. */
  readonly at: number;
  answer(list: FetchedList | undefined): void;
  fail(error: unknown): void;
}

/** An endpoint list whose fetches a test sees and answers, one by one. */
export class ScriptedList {
  readonly timing: ManualTiming = new ManualTiming();
  readonly condition: Condition = new Condition();
  readonly asked: Asked[] = [];
  readonly failures: string[] = [];
  readonly list: EndpointList;

  constructor(ttlSeconds = 60) {
    this.list = new EndpointList({
      service: "billing",
      fetch: (asked) => this.#ask(asked),
      ttlMs: ttlSeconds * 1000,
      timing: this.timing,
      condition: this.condition,
      onFetched: (failure) => void (failure && this.failures.push(failure.code)),
    });
  }

  /** One that has fetched these names. */
  static async with(names: readonly string[], ttlSeconds?: number): Promise<ScriptedList> {
    const scripted = new ScriptedList(ttlSeconds);
    const first = scripted.list.refresh(undefined);
    await scripted.answer(names);
    await first;
    return scripted;
  }

  /** Answers the fetch that is under way. */
  async answer(names: readonly string[], etag?: string): Promise<void> {
    this.#current.answer({ service: resolvedService(names), etag });
    await settled();
  }

  async answerUnchanged(): Promise<void> {
    this.#current.answer(undefined);
    await settled();
  }

  async fail(code: ErrorCode): Promise<void> {
    this.#current.fail(new EngineError(code, `${code} at http://10.0.0.1:8000`));
    await settled();
  }

  async failMissing(): Promise<void> {
    this.#current.fail(notFound("service", "billing"));
    await settled();
  }

  /** What became of a request: passed on, or the code it was refused with. */
  async admit(name: string, authorization?: string): Promise<string> {
    try {
      await this.list.admit(name, authorization);
      return "passed on";
    } catch (error) {
      if (error instanceof EngineError) return error.code;
      throw error;
    }
  }

  get #current(): Asked {
    const last = this.asked.at(-1);
    if (!last) throw new Error("nothing was asked for");
    return last;
  }

  #ask(asked: ListRequest): Promise<FetchedList | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<FetchedList | undefined>();
    asked.signal.addEventListener("abort", () => reject(asked.signal.reason));
    this.asked.push({ ...asked, at: this.timing.time, answer: resolve, fail: reject });
    return promise;
  }
}
