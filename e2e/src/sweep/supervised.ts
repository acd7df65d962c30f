import type { CliProcess } from "../harness/cli-process.ts";

/** A process that is started again as soon as it has ended, as a service manager does. */
export class Supervised {
  readonly #start: () => CliProcess;
  #current: CliProcess | undefined;
  #mayEnd = false;
  /** Those that have ended, and when that was seen. */
  readonly ends: { readonly process: CliProcess; readonly to: number }[] = [];

  constructor(start: () => CliProcess) {
    this.#start = start;
  }

  get process(): CliProcess {
    if (!this.#current) throw new Error("it was never started");
    return this.#current;
  }

  start(): void {
    const process = this.#start();
    this.#current = process;
    void process.exited.then(() => {
      if (this.#mayEnd) return;
      this.ends.push({ process, to: Date.now() });
      this.start();
    });
  }

  /** From now on it is not started again. */
  letEnd(): void {
    this.#mayEnd = true;
  }
}
