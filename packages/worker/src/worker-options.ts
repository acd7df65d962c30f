import type { Config, DispatchMode, WorkerProtocol } from "@engine/contract";
import type { TextLink } from "./link/text-link.ts";
import type { Machine } from "./machine/machine.ts";
import type { ValuesSource } from "./values-source.ts";
import type { World } from "./world.ts";

export interface WorkerOptions extends Omit<World, "life"> {
  readonly name: string;
  /** The server's own protocol object, or a way to a remote one: `httpLink({ baseUrl })`. */
  readonly link: WorkerProtocol | TextLink;
  readonly config: Config["workers"] & Pick<Config, "home">;
  /** Where secrets and configs come from, in place of the server. */
  readonly values?: ValuesSource;
  /** How the worker gets its work; when absent as the server likes it (WRK-10). */
  readonly dispatch?: DispatchMode;
  /** In place of the machine that this process runs on. */
  readonly machine?: Machine;
  /** A fresh UUIDv7. */
  readonly ids: () => string;
  /** Ends the process: the server refuses this worker, or gave its name to another process. */
  exit(code: number, message: string): void;
}
