import type { CommitListener } from "./commits.ts";
import type { RowNews } from "./replicas/bus-message.ts";
import type { LedWork } from "./replicas/leadership.ts";

/**
 * What a part of the engine does at the moments of the engine's life. `engine.ts` has the list of
 * domains: they are told in its order, and closed from its end.
 */
export interface Domain {
  /** Takes up what an earlier life of this server left. Led work and requests begin after that. */
  recover?(): Promise<void>;
  /** Hears of every commit of this server before its caller, once for each execution that it changed. */
  onCommit?: CommitListener;
  /**
   * Hears what other servers have committed, some 10 ms late, or never. It may read the rows concerned;
   * where that fails, {@link refresh} has to make up for it.
   */
  onNews?(rows: readonly RowNews[]): void | Promise<void>;
  /** Called once every domain was told of a commit, or of news. */
  afterwards?(): void;
  /** Work that one server does for all of them. */
  readonly led?: LedWork;
  /** Looks at the store, every now and then, for what no commit and no news has told. */
  refresh?(): void | Promise<void>;
  /** Answers every waiting call, and begins nothing more. */
  close?(): void | Promise<void>;
}
