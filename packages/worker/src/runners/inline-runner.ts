import { nodeHost } from "@engine/sdk/node";
import { resolveBundleImports } from "./bundle-imports.ts";
import { Executor } from "./executor.ts";
import type { FromRunner, ToRunner } from "./messages.ts";
import { Outbox } from "./outbox.ts";
import type { Runner, RunnerEvents } from "./runner.ts";

/** Runs bodies on the main thread, for tests and debuggers: nothing isolates them. */
export class InlineRunner implements Runner {
  readonly isShared = true;
  load = 0;
  readonly loaded: Set<string> = new Set();
  readonly entered = 0;
  readonly #executor: Executor;
  readonly #inbox: Outbox<ToRunner>;
  readonly #release: () => void;

  /** @param folder Address of the folder of the bundles, with a slash at its end. */
  constructor(folder: string, events: RunnerEvents) {
    const outbox = new Outbox<FromRunner>((messages) => {
      for (const message of messages) events.message(this, message);
    });
    const host = nodeHost({
      log: (level, message, details = {}) => outbox.add({ kind: "log", level, message, details }),
    });
    process.setSourceMapsEnabled(true);
    this.#release = resolveBundleImports(folder);
    this.#executor = new Executor({
      host,
      post: (message) => outbox.add(message),
      traced: (_copy, run) => run(),
    });
    this.#inbox = new Outbox((messages) => this.#executor.receive(messages));
    outbox.add({ kind: "ready" });
  }

  post(messages: readonly ToRunner[]): void {
    for (const message of messages) this.#inbox.add(message);
  }

  close(): Promise<void> {
    this.#release();
    return Promise.resolve();
  }
}
