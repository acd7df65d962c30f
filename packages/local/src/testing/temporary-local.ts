import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Config } from "@engine/contract";
import { type Host, nodeHost } from "@engine/sdk/node";
import { openStore, openValueStore, type Store } from "@engine/store";
import { onTestFinished } from "vitest";
import { type Local, openLocal } from "../local.ts";
import type { LocalParts } from "../local-parts.ts";

/** For tests: a folder that goes with the test, for the database and the values of local engines. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "engine-local-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** For tests: a local engine; two on the same folder are two processes on one database. */
export async function openTemporary(
  parts: Partial<Omit<LocalParts, "limits">> & {
    readonly folder?: string;
    /** Asked once by each commit of the database. */
    readonly commitClock?: () => number;
    readonly limits?: Partial<LocalParts["limits"]>;
  } = {},
): Promise<{ local: Local; store: Store }> {
  const { folder = temporaryFolder(), limits, commitClock, ...rest } = parts;
  const config = Config.parse({ home: folder });
  const store = await openStore(`sqlite:${join(folder, "engine.db")}`, {
    synchronous: "normal",
    ...(commitClock && { clock: commitClock }),
  });
  const local = openLocal({
    store,
    values: await openValueStore(config),
    ...rest,
    limits: { ...config.executions, ...limits },
  });
  onTestFinished(() => local.close());
  return { local, store };
}

export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setImmediate(resolve));
}

/** A host whose clock stands still until the test moves it. */
export class ManualHost {
  readonly host: Host;
  now = 1_700_000_000_000;
  readonly #timers = new Set<{ readonly at: number; readonly then: () => void }>();

  constructor() {
    this.host = {
      ...nodeHost(),
      now: () => this.now,
      setTimer: (then, ms) => {
        const timer = { at: this.now + ms, then };
        this.#timers.add(timer);
        return () => void this.#timers.delete(timer);
      },
    };
  }

  get timers(): number {
    return this.#timers.size;
  }

  /** Lets `ms` pass: timers fire in the order of their instants, each with time to act on it. */
  async pass(ms: number): Promise<void> {
    const end = this.now + ms;
    for (;;) {
      await settled();
      const due = [...this.#timers].filter(({ at }) => at <= end);
      const [next] = due.sort((a, b) => a.at - b.at);
      if (!next) break;
      this.#timers.delete(next);
      this.now = Math.max(this.now, next.at);
      next.then();
    }
    this.now = end;
    await settled();
  }
}

/** The database commits once per turn, so a few turns bring any chain of changes to its end. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
}
