import { refText } from "../arguments/workflow-ref.ts";
import type { ServerCall } from "../server-call.ts";
import type { Given, NewVersion } from "./file-news.ts";
import { liveOnOtherVersions } from "./live-executions.ts";
import { type CheckResult, replayOnThread } from "./replay-check.ts";

/** What became of the live executions of earlier versions on a new one. */
export interface Checked extends CheckResult {
  readonly version: Given;
  /** Older executions, beyond as many as are checked. */
  readonly leftOut: number;
  /** Executions that there was no time for: how many, and during which one the time ended. */
  readonly outOfTime: { readonly executions: number; readonly during: string } | undefined;
}

export interface ReplayChecksOptions {
  readonly client: ServerCall["client"];
  readonly baseUrl: string;
  /** With which the process calls itself; never printed. */
  readonly token?: string;
  report(checked: Checked): void;
  /** @returns Takes the timer away. */
  setTimer(run: () => void, ms: number): () => void;
}

/** So many executions are replayed for one version, the newest first … */
export const CHECKED_EXECUTIONS = 100;
/** … for no longer than this. */
export const CHECK_SECONDS = 10;

/** Checks new versions one after the other, beside everything else that goes on. */
export class ReplayChecks {
  readonly #options: ReplayChecksOptions;
  readonly #waiting = new Map<string, NewVersion>();
  #running: { readonly name: string; stop(): void; readonly over: Promise<void> } | undefined;
  #isClosed = false;

  constructor(options: ReplayChecksOptions) {
    this.#options = options;
  }

  /** A version that is already checked gives way to a newer one of its workflow. */
  add(version: NewVersion): void {
    if (this.#isClosed || version.version === 1) return;
    const name = refText(version);
    this.#waiting.set(name, version);
    if (this.#running?.name === name) this.#running.stop();
    this.#next();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#waiting.clear();
    this.#running?.stop();
    await this.#running?.over;
  }

  #next(): void {
    const [entry] = this.#waiting;
    if (this.#running || !entry) return;
    const [name, version] = entry;
    this.#waiting.delete(name);
    const stopped = Promise.withResolvers<void>();
    const over = this.#check(version, stopped.promise).finally(() => {
      this.#running = undefined;
      this.#next();
    });
    this.#running = { name, stop: stopped.resolve, over };
  }

  async #check(version: NewVersion, stopped: Promise<void>): Promise<void> {
    const { client, baseUrl, token, report, setTimer } = this.#options;
    const { namespace, name, bundle } = version;
    let isStopped = false;
    void stopped.then(() => {
      isStopped = true;
    });
    const timeIsUp = Promise.withResolvers<void>();
    const cancelTimer = setTimer(timeIsUp.resolve, CHECK_SECONDS * 1000);
    try {
      const ref = { ns: namespace, wf: name };
      const limit = CHECKED_EXECUTIONS;
      const live = await liveOnOtherVersions(client, ref, { version: version.version, limit });
      const { executions, leftOut } = live;
      if (executions.length === 0 || isStopped) return;
      const task = {
        baseUrl,
        ...(token && { token }),
        workflow: `${namespace}/${name}`,
        executions,
      };
      const stop = Promise.race([stopped, timeIsUp.promise]);
      const result = await replayOnThread(bundle, task, stop);
      if (isStopped) return;
      const { replayed, failed } = result;
      const during = executions[replayed.length]?.execution_id;
      const isTimeUp = failed === undefined && during !== undefined;
      const left = executions.length - replayed.length;
      const outOfTime = isTimeUp ? { executions: left, during } : undefined;
      report({ ...result, version, leftOut, outOfTime });
    } catch (error) {
      if (isStopped) return;
      const failed = error instanceof Error ? error.message : String(error);
      report({ replayed: [], failed, version, leftOut: 0, outOfTime: undefined });
    } finally {
      cancelTimer();
    }
  }
}
