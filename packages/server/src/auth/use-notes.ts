import type { Identity } from "@engine/contract";
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
  #cancel: (() => void) | undefined;
  #isClosed = false;

  constructor(ports: Pick<EnginePorts, "store" | "clock" | "setTimer" | "log">) {
    this.#ports = ports;
  }

  note({ id, credential }: Identity): void {
    if (this.#isClosed || this.#keys.size + this.#principals.size >= MOST) return;
    if (credential.kind === "api_key" && credential.id !== null) this.#keys.add(credential.id);
    if (id !== null) this.#principals.add(id);
    this.#cancel ??= this.#ports.setTimer(() => void this.#write(), TOGETHER_MS);
  }

  /** Writes what was noted. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (!this.#cancel) return;
    this.#cancel();
    await this.#write();
  }

  async #write(): Promise<void> {
    this.#cancel = undefined;
    const used = { keys: [...this.#keys], principals: [...this.#principals] };
    this.#keys.clear();
    this.#principals.clear();
    const { store, clock, log } = this.#ports;
    try {
      await store.identities.noteUse({ at: clock(), ...used });
    } catch (error) {
      log.debug({ err: error }, "could not note which keys were used");
    }
  }
}
