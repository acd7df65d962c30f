import { basename, dirname } from "node:path";
import { errorText } from "../io/cli-error.ts";
import type { DevFiles } from "./dev-files.ts";
import type { FileNews } from "./file-news.ts";
import { WatchedFolders } from "./watched-folders.ts";

export interface WatchLoopOptions {
  readonly files: DevFiles;
  report(news: readonly FileNews[]): void;
  /** A look that failed as a whole. */
  failed(message: string): void;
  clock(): number;
  /** @returns Takes the timer away. */
  setTimer(run: () => void, ms: number): () => void;
}

/** A burst of saves is over when so long nothing has happened … */
const QUIET_MS = 50;
/** … and is looked at in any case after this time. */
const BURST_MS = 250;
/** Network and container file systems report nothing, or not everything. */
const POLL_MS = 1000;
const BLIND_POLL_MS = 300;
/** Looking without a reason takes at most this share of the time. */
const POLL_SHARE = 0.02;

/** Looks at the files whenever something was reported about them, and now and then without that. */
export class WatchLoop {
  readonly #options: WatchLoopOptions;
  readonly #folders = new WatchedFolders((path) => this.#changed(path));
  #inputs: ReadonlySet<string> = new Set();
  #looking: Promise<void> | undefined;
  #cancelTimer: () => void = () => {};
  #dueAt = Number.POSITIVE_INFINITY;
  #burstSince: number | undefined;
  #lastFailure = "";
  #isClosed = false;

  constructor(options: WatchLoopOptions) {
    this.#options = options;
    this.#watchWhatCounts();
    this.#lookIn(0);
  }

  /** Resolves when nothing is being registered any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelTimer();
    this.#folders.close();
    await this.#looking;
  }

  #changed(path: string): void {
    if (!this.#mayCount(path)) return;
    const now = this.#options.clock();
    this.#burstSince ??= now;
    const wait = Math.min(QUIET_MS, this.#burstSince + BURST_MS - now);
    this.#cancelTimer();
    this.#dueAt = Number.POSITIVE_INFINITY;
    this.#lookIn(Math.max(0, wait));
  }

  /** A log file beside the sources, or an editor's notes, are no reason to look. */
  #mayCount(path: string): boolean {
    const name = basename(path);
    if (this.#inputs.has(path)) return true;
    if (name.startsWith(".") || name === "node_modules") return false;
    // Without a dot it may be a folder.
    return /\.m?ts$/.test(name) || !name.includes(".");
  }

  /** The earliest time that was asked for counts. */
  #lookIn(ms: number): void {
    const dueAt = this.#options.clock() + ms;
    if (this.#isClosed || dueAt >= this.#dueAt) return;
    this.#cancelTimer();
    this.#dueAt = dueAt;
    this.#cancelTimer = this.#options.setTimer(() => this.#look(), ms);
  }

  #look(): void {
    this.#dueAt = Number.POSITIVE_INFINITY;
    if (this.#looking) {
      // What it has looked at already may have changed since.
      this.#lookIn(QUIET_MS);
      return;
    }
    this.#burstSince = undefined;
    this.#looking = this.#lookOnce().finally(() => {
      this.#looking = undefined;
    });
  }

  async #lookOnce(): Promise<void> {
    const { files, report, failed, clock } = this.#options;
    const startedAt = clock();
    let againMs: number | undefined;
    let isIdle = true;
    try {
      const look = await files.look();
      againMs = look.againMs;
      isIdle = look.news.length === 0;
      if (look.news.length) report(look.news);
      this.#watchWhatCounts();
      this.#lastFailure = "";
    } catch (error) {
      const message = errorText(error);
      // Once is enough, however often it is tried.
      if (message !== this.#lastFailure) failed(message);
      this.#lastFailure = message;
    }
    const pollMs = this.#folders.isBlind ? BLIND_POLL_MS : POLL_MS;
    const took = isIdle ? clock() - startedAt : 0;
    this.#lookIn(
      Math.min(againMs ?? Number.POSITIVE_INFINITY, Math.max(pollMs, took / POLL_SHARE)),
    );
  }

  #watchWhatCounts(): void {
    if (this.#isClosed) return;
    const { files } = this.#options;
    this.#inputs = files.inputs;
    const folders = [...this.#inputs].map((path) => dirname(path));
    // What was saved before a folder was watched is found by looking once more.
    if (this.#folders.set([...files.folders, ...folders])) this.#lookIn(QUIET_MS);
  }
}
