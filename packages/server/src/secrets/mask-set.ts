import { EngineError, type Json } from "@engine/contract";
import { createMasker, type Masker, maskedValuesOf } from "@engine/redaction";
import { type MaskedRow, openText, secretPlace } from "@engine/store";
import type { EpochWatch } from "../auth/epoch-watch.ts";
import type { Domain } from "../domain.ts";
import type { EnginePorts } from "../engine-ports.ts";
import { neededRing } from "./needed-ring.ts";

interface Parts {
  readonly ports: Pick<EnginePorts, "store" | "ring" | "config" | "log">;
  readonly epochs: Pick<EpochWatch, "isCurrent" | "current" | "onChange">;
}

/** Changes that come while the values are read have them read again, but not for ever. */
const MOST_READINGS = 10;

/**
 * What is masked in whatever is read: the values of secrets, and of what they were before (RED-2). A set
 * serves only while nobody can have changed one (AUTH-57). Where it cannot be known, nothing may be told
 * (RED-5).
 */
export class MaskSets implements Domain {
  readonly #parts: Parts;
  readonly #isOn: boolean;
  readonly #nothing: Masker = createMasker([]);
  #masker: Masker | undefined;
  /** The one that was read last, whatever was changed since. */
  #latest: Masker = this.#nothing;
  #loading: Promise<Masker> | undefined;
  /** Counts the changes: what began to be read before one is not kept after it. */
  #turn = 0;
  /** What rows hold, by what they are sealed as: no two are sealed alike. */
  #opened: ReadonlyMap<string, readonly string[]> = new Map();
  #isTold = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#isOn = parts.ports.config.security.redaction.enabled;
    parts.epochs.onChange("masks", () => this.#drop());
  }

  async recover(): Promise<void> {
    if (this.#isOn) {
      // The log is masked from the first line on. What cannot be read now is told of when it is asked for.
      await this.current().catch(() => undefined);
      return;
    }
    this.#parts.ports.log.warn(
      { key: "engine.security.redaction.enabled" },
      "values of secrets are shown wherever they turn up, in what is read and in logs: masking is turned off",
    );
  }

  /** At once, where it is known and nothing can have changed. */
  known(): Masker | undefined {
    if (!this.#isOn) return this.#nothing;
    return this.#parts.epochs.isCurrent ? this.#masker : undefined;
  }

  /** @throws EngineError `redaction_unavailable`. */
  async current(): Promise<Masker> {
    if (!this.#isOn) return this.#nothing;
    for (let readings = 0; readings < MOST_READINGS; readings++) {
      if (!(await this.#parts.epochs.current())) throw unavailable();
      if (this.#masker) return this.#masker;
      const turn = this.#turn;
      const masker = await this.#load(turn);
      if (turn === this.#turn) return masker;
    }
    throw unavailable();
  }

  /**
   * A line of the log, which is written at once, with what was known to be masked when somebody last
   * asked: a server that nobody asks has nothing new to tell.
   */
  line(line: string): string {
    try {
      return this.#latest.json(line);
    } catch {
      return this.#latest.text(line);
    }
  }

  #load(turn: number): Promise<Masker> {
    if (this.#loading) return this.#loading;
    const loading = this.#read().then((masker) => {
      this.#latest = masker;
      if (turn === this.#turn) this.#masker = masker;
      return masker;
    });
    this.#loading = loading;
    const forget = () => {
      if (this.#loading === loading) this.#loading = undefined;
    };
    loading.then(forget, forget);
    return loading;
  }

  async #read(): Promise<Masker> {
    try {
      const rows = await this.#parts.ports.store.masks.list();
      const opened = new Map(
        rows.map((row) => {
          return [row.body, this.#opened.get(row.body) ?? this.#valuesOf(row)] as const;
        }),
      );
      this.#opened = opened;
      this.#isTold = false;
      return createMasker(new Set([...opened.values()].flat()));
    } catch (error) {
      // Every request asks; the log needs it once.
      if (!this.#isTold) {
        const message = "the values of secrets cannot be read, so nothing can be masked or told";
        this.#parts.ports.log.error({ err: error }, message);
      }
      this.#isTold = true;
      throw unavailable(error);
    }
  }

  #valuesOf({ name, version, key_id, wrapped, body }: MaskedRow): readonly string[] {
    const ring = neededRing(this.#parts.ports.ring);
    const text = openText(ring, secretPlace(name, version), { key_id, wrapped, body });
    return maskedValuesOf(JSON.parse(text) as Json);
  }

  #drop(): void {
    this.#turn++;
    this.#masker = undefined;
    // Whoever asks from now on reads anew.
    this.#loading = undefined;
  }
}

function unavailable(cause?: unknown): EngineError {
  return new EngineError(
    "redaction_unavailable",
    "what is masked cannot be read now, so nothing is answered; try again",
    { cause },
  );
}
