import type { CommitListener } from "./commits.ts";
import type { RowNews } from "./replicas/bus-message.ts";
import type { LedWork } from "./replicas/leadership.ts";

/**
 * A part of the engine at the moments of the engine's life. `engine.ts` has the list of them: they are
 * told in its order, and closed from its end.
 */
export interface Domain {
  /** Takes up what an earlier life of this server left. Led work and requests begin after it. */
  recover?(): Promise<void>;
  /** Hears of every commit of this server, once for each execution that it changed, before the caller. */
  onCommit?: CommitListener;
  /**
   * What other servers have committed, some 10 ms late, or never. It may read what the news is about;
   * where that fails, {@link refresh} has to make up for it.
   */
  onNews?(rows: readonly RowNews[]): void | Promise<void>;
  /** Called when every domain was told of a commit, or of news. */
  afterwards?(): void;
  /** What one server does for all of them. */
  readonly led?: LedWork;
  /** The slow look at the store that makes up for a wake-up that was missed. */
  refresh?(): void | Promise<void>;
  /** Answers what waits, and begins nothing more. */
  close?(): void | Promise<void>;
}
