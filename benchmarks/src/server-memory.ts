import { fileURLToPath } from "node:url";
import type { BenchProcess } from "./bench-process.ts";

/** For Node of a server that is asked by {@link ServerMemory}. */
export const REPORTS_MEMORY: readonly string[] = [
  "--expose-gc",
  `--import=${fileURLToPath(new URL("./memory-hook.ts", import.meta.url))}`,
];

/** Bytes. */
export interface Memory {
  /** Live objects and what they own outside the JavaScript heap. */
  readonly held: number;
  /** Of the whole process: code, the database's page cache and pages not given back included. */
  readonly resident: number;
}

/** Asks a server process what it holds in memory, after a collection. */
export class ServerMemory {
  readonly #server: BenchProcess;
  #asked = 0;

  constructor(server: BenchProcess) {
    this.#server = server;
  }

  async read(): Promise<Memory> {
    this.#asked++;
    this.#server.signal("SIGUSR2");
    const [, text = ""] = await this.#server.printed(
      new RegExp(`^memory ${this.#asked} (.*) end$`, "m"),
    );
    const { heapUsed, external, rss } = JSON.parse(text) as NodeJS.MemoryUsage;
    return { held: heapUsed + external, resident: rss };
  }
}
