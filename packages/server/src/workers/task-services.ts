import {
  type Encoded,
  EngineError,
  type ExecutionRow,
  notFound,
  type OwnCacheKey,
  referenceOf,
  type StoredReference,
} from "@engine/contract";
import type { InnerPorts } from "../engine-ports.ts";

type Ports = Pick<InnerPorts, "store" | "seals" | "values" | "config" | "clock">;

/** Events of a log that are read together. */
const PAGE = 1000;

/** What tasks need of the server while they run. The caller has checked who owns the execution. */
export class TaskServices {
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  async saveValue(
    execution_id: string,
    { text, hidden = false }: { readonly text: string; readonly hidden?: boolean | undefined },
  ): Promise<StoredReference> {
    this.#refuseLarge(text);
    const { values, seals } = this.#ports;
    return values.save(execution_id, hidden ? await seals.sealText(execution_id, text) : text);
  }

  /** A value of another execution is given only where the log of this one names it. */
  async loadValue(execution_id: string, reference_id: string): Promise<string> {
    const isOwn = reference_id.startsWith(`${execution_id}/`);
    if (!isOwn && !(await this.#isNamed(execution_id, reference_id))) {
      throw notFound("value", `${reference_id} in the log of execution ${execution_id}`);
    }
    const { values, seals } = this.#ports;
    return seals.openText(execution_id, await values.load(reference_id));
  }

  async cacheLookup(execution_id: string, key: OwnCacheKey): Promise<string | undefined> {
    const { namespace } = await this.#row(execution_id);
    return this.#ports.store.cache.find({ ...key, namespace }, this.#ports.clock());
  }

  async cacheKeep(
    execution_id: string,
    { key, text, ttl_ms }: { key: OwnCacheKey; text: string; ttl_ms: number },
  ): Promise<void> {
    this.#refuseLarge(text);
    const { namespace } = await this.#row(execution_id);
    const expires_at = Math.min(this.#ports.clock() + ttl_ms, Number.MAX_SAFE_INTEGER);
    await this.#ports.store.cache.keep({ ...key, namespace }, text, expires_at);
  }

  #refuseLarge(text: string): void {
    const limit_bytes = this.#ports.config.executions.max_value_bytes;
    const bytes = Buffer.byteLength(text);
    if (bytes <= limit_bytes) return;
    const message = `the value takes ${bytes} bytes, more than the ${limit_bytes} allowed`;
    throw new EngineError("payload_too_large", message, { details: { limit_bytes } });
  }

  async #isNamed(execution_id: string, reference_id: string): Promise<boolean> {
    for (let after = 0; ; after += PAGE) {
      const page = await this.#ports.store.log.read(execution_id, { after, limit: PAGE });
      const events = await this.#ports.seals.revealed(
        execution_id,
        page.map(({ event }) => event),
      );
      if (events.some(({ value }) => names(value, reference_id))) return true;
      if (page.length < PAGE) return false;
    }
  }

  async #row(execution_id: string): Promise<ExecutionRow> {
    const row = await this.#ports.store.executions.find(execution_id);
    if (!row) throw notFound("execution", execution_id);
    return row;
  }
}

/** Whether a value of the log is that envelope, or holds it in a field, as values of the engine do. */
function names(value: Encoded, reference_id: string): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return [value, ...Object.values(value)].some(
    (place) => referenceOf(place)?.reference_id === reference_id,
  );
}
