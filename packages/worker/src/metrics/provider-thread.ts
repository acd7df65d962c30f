import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import type { MetricsProvider } from "@engine/contract";
import { ASK, type FromProvider, type ProviderThreadData } from "./provider-messages.ts";

const fromSources = import.meta.url.endsWith(".ts");
const program = new URL(
  `../program/metrics-provider-main${extname(import.meta.url)}`,
  import.meta.url,
);
/** A provider counts things: one that fills memory must not take the worker along. */
const MEMORY_MB = 128;

/** One life of the thread that a metrics provider runs on. */
export class ProviderThread {
  /** Settles once its thread is gone. */
  readonly ended: Promise<void>;
  readonly #worker: Worker;
  #settle: ((message: FromProvider) => void) | undefined;
  #hasEnded = false;
  #first: FromProvider | undefined;

  constructor(provider: MetricsProvider, env: NodeJS.ProcessEnv) {
    const workerData: ProviderThreadData = provider;
    this.#worker = new Worker(program, {
      env,
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
      ...(fromSources && { execArgv: ["--conditions=@engine/source"] }),
    });
    this.#worker.on("message", (message: FromProvider) => this.#heard(message));
    this.#worker.on("error", ({ name, message }) => this.#dead(`${name}: ${message}`));
    this.ended = new Promise((resolve) => {
      this.#worker.on("exit", (code) => {
        this.#dead(`its thread ended with code ${code}`);
        resolve();
      });
    });
  }

  /** What it first says: whether its module can be used. Asked once. */
  loaded(): Promise<FromProvider> {
    return this.#next();
  }

  /** What the provider gives now. Not asked again before it is answered. */
  ask(): Promise<FromProvider> {
    this.#worker.postMessage(ASK);
    return this.#next();
  }

  /** Lets the process end although it lives. */
  unref(): void {
    this.#worker.unref();
  }

  /** Ends it, whatever its code is doing. */
  end(): void {
    void this.#worker.terminate();
  }

  #next(): Promise<FromProvider> {
    const first = this.#first;
    this.#first = undefined;
    if (first) return Promise.resolve(first);
    if (this.#hasEnded) return Promise.resolve({ kind: "failed", why: "its thread has ended" });
    return new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  #heard(message: FromProvider): void {
    const settle = this.#settle;
    this.#settle = undefined;
    if (settle) settle(message);
    else this.#first = message;
  }

  #dead(why: string): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#heard({ kind: "failed", why });
  }
}
