import { fileURLToPath } from "node:url";
import { type Engine, startEngine } from "../harness/engine.ts";
import { until } from "../harness/until.ts";
import { Supervised } from "../sweep/supervised.ts";
import { FOLDER } from "./did.ts";
import { DRAIN_MS, MODE_FACTS, type Mode } from "./modes.ts";
import { SharedFolder } from "./shared-folder.ts";
import { Watch } from "./watch.ts";

export type StoreKind = "sqlite" | "postgres";

/** Has every program; it is what is registered. */
export const PROGRAMS_FILE: string = fileURLToPath(new URL("./programs/all.ts", import.meta.url));

/** A process of a worker that has ended, and since when others may have what it had. */
export interface WorkerEnd {
  readonly pid: number;
  readonly to: number;
}

/** A server with every program registered, and the workers of one mode, which are started again when they end. */
export class Stage implements AsyncDisposable {
  readonly engine: Engine;
  readonly folder: SharedFolder;
  readonly watch: Watch;
  readonly mode: Mode;
  readonly #workers: readonly Supervised[];
  /** When processes that drain give back what they still have, by their ids. */
  readonly #giveBack = new Map<number, number>();

  private constructor(parts: { engine: Engine; folder: SharedFolder; mode: Mode }) {
    this.engine = parts.engine;
    this.folder = parts.folder;
    this.mode = parts.mode;
    this.watch = new Watch(parts.engine.http);
    const { workers } = MODE_FACTS[parts.mode];
    const env = { [FOLDER]: parts.folder.path };
    this.#workers = workers.map((name) => new Supervised(() => this.engine.startWorker(name, env)));
  }

  static async start(mode: Mode, store: StoreKind): Promise<Stage> {
    const { env } = MODE_FACTS[mode];
    const engine = await startEngine({
      store,
      workers: [],
      env: {
        ...env,
        ENGINE_LOG_LEVEL: "warn",
        ENGINE_WORKERS__SLOTS: "0",
        ENGINE_WORKERS__PROCESS_SPARES: "0",
        ENGINE_WORKERS__ENV_ALLOW: JSON.stringify([FOLDER]),
      },
    });
    try {
      const folder = new SharedFolder(engine.home.file("others"));
      const { code, stderr } = await engine.cli("workflow", "register", PROGRAMS_FILE);
      if (code !== 0) throw new Error(`the programs were not registered: ${stderr}`);
      const stage = new Stage({ engine, folder, mode });
      for (const worker of stage.#workers) worker.start();
      await Promise.all(stage.#workers.map((worker) => stage.#untilOnline(worker)));
      return stage;
    } catch (error) {
      await engine[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Those that were killed, drained or ended by themselves, by their ids. */
  ends(): readonly WorkerEnd[] {
    const ends = this.#workers.flatMap((worker) => worker.ends);
    return ends.map(({ process: { pid }, to }) => {
      return { pid, to: Math.min(to, this.#giveBack.get(pid) ?? to) };
    });
  }

  /** Asks a worker to stop as a deploy does; its successor is there when this resolves. */
  async drain(which: number): Promise<void> {
    const worker = this.#workers[which % this.#workers.length];
    if (!worker) return;
    const leaving = worker.process;
    this.#giveBack.set(leaving.pid, Date.now() + DRAIN_MS);
    leaving.signal("SIGTERM");
    await leaving.exited;
    await until("it is started again", () => worker.process !== leaving);
    await this.#untilOnline(worker);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.watch[Symbol.dispose]();
    for (const worker of this.#workers) worker.letEnd();
    await this.engine[Symbol.asyncDispose]();
  }

  /** The newest process of that worker takes work. */
  async #untilOnline(worker: Supervised): Promise<void> {
    await until("the worker is online", async () => {
      const { body } = await this.engine.http.get<{ items: Online[] }>("/workers?limit=100");
      const { pid } = worker.process;
      return body.items.some((one) => one.pid === pid && one.status === "online");
    });
  }
}

interface Online {
  readonly pid: number | null;
  readonly status: string;
}
