import type { Identity } from "@engine/contract";
import { USE_NOTED_MS } from "@engine/store";
import type { EnginePorts } from "../engine-ports.ts";

/** Uses that come within this time are written together. */
const TOGETHER_MS = 1_000;
/** Beyond so many at a time further ones are noted at their next use. */
const MOST = 10_000;

/** Notes when keys and principals were used last, outside of the requests that use them (AUTH-13). */
export class UseNotes {
  readonly #ports: Pick<EnginePorts, "store" | "clock" | "setTimer" | "log">;
  readonly #keys = new Set<string>();
  readonly #principals = new Set<string>();
  /** When keys and principals were noted here, the oldest first. */
  readonly #noted = new Map<string, number>();
  #cancel: (() => void) | undefined;
  #isClosed = false;

  constructor(ports: Pick<EnginePorts, "store" | "clock" | "setTimer" | "log">) {
    this.#ports = ports;
  }

  note({ id, credential }: Identity): void {
    if (this.#isClosed || this.#keys.size + this.#principals.size >= MOST) return;
    if (credential.kind === "api_key") this.#add(this.#keys, credential.id);
    this.#add(this.#principals, id);
    if (this.#keys.size + this.#principals.size === 0) return;
    this.#cancel ??= this.#ports.setTimer(() => void this.#write(), TOGETHER_MS);
  }

  /** Writes what was noted. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (!this.#cancel) return;
    this.#cancel();
    await this.#write();
  }

  #add(used: Set<string>, id: string | null): void {
    const notedAt = id === null ? undefined : this.#noted.get(id);
    const isDue = notedAt === undefined || this.#ports.clock() - notedAt >= USE_NOTED_MS;
    if (id !== null && isDue) used.add(id);
  }

  #keep(ids: readonly string[], at: number): void {
    for (const id of ids) {
      this.#noted.delete(id);
      this.#noted.set(id, at);
    }
    for (const id of this.#noted.keys()) {
      if (this.#noted.size <= MOST) return;
      this.#noted.delete(id);
    }
  }

  async #write(): Promise<void> {
    this.#cancel = undefined;
    const used = { keys: [...this.#keys], principals: [...this.#principals] };
    this.#keys.clear();
    this.#principals.clear();
    const { store, clock, log } = this.#ports;
    const at = clock();
    try {
      await store.identities.noteUse({ at, ...used });
      this.#keep([...used.keys, ...used.principals], at);
    } catch (error) {
      log.debug({ err: error }, "could not note which keys were used");
    }
  }
}
