import {
  type Encoded,
  EngineError,
  encode,
  envelopeText,
  invalidField,
  type Json,
  MAX_VALUE_DEPTH,
  RICH,
  STORED,
  type StoredReference,
} from "@engine/contract";
import { LargeJson } from "@engine/http/json";
import type { InputSchema } from "../catalog/input/input-check.ts";
import type { Domain } from "../domain.ts";
import type { EnginePorts } from "../engine-ports.ts";
import { inputThread } from "./input-thread.ts";

/** What an input has to be, and how it is told from others under an idempotency key. */
export interface Check {
  readonly schema: InputSchema;
  /** What it is, first in the path of each issue. */
  readonly root: string;
  readonly hashedWith?: number | null | undefined;
}

export interface Kept {
  /** As it stands in the row: the value, or where it lies. */
  readonly input: Encoded;
  readonly request_hash: string | undefined;
}

/** Of an input that has to be wrapped, which makes a value of it. */
const MOST_WRAPPED = 50_000;

/**
 * Inputs that came as large bodies. They are checked on a thread and go as text from the socket to the
 * storage (EXE-49); the row has the place. The first to make a value of one is the thread that runs the
 * execution.
 */
export class LargeInputs implements Domain {
  readonly #ports: Pick<EnginePorts, "values" | "config" | "log">;
  readonly #thread = inputThread();

  constructor(ports: Pick<EnginePorts, "values" | "config" | "log">) {
    this.#ports = ports;
  }

  /** Checks an input and keeps it for an execution that may not be there yet. */
  async keep(execution_id: string, given: LargeJson, check: Check): Promise<Kept> {
    try {
      refuseUnencodable(given);
      const request_hash = await this.#checked(given, check);
      const text = storedText(given);
      const { inline_value_bytes } = this.#ports.config.executions;
      if (given.length <= inline_value_bytes) return { input: JSON.parse(text), request_hash };
      const reference = await this.#ports.values.save(execution_id, text);
      return { input: JSON.parse(envelopeText(reference)), request_hash };
    } finally {
      given.release();
    }
  }

  /** By which it is told from others under its key, where it is not kept. */
  async hashOf(given: LargeJson, version: number | null): Promise<string> {
    try {
      const hashed = await this.#checked(given, {
        schema: null,
        root: "body",
        hashedWith: version,
      });
      return hashed ?? "";
    } finally {
      given.release();
    }
  }

  /** The same for the input of another execution. */
  async copy(execution_id: string, of: StoredReference, check: Check): Promise<Kept> {
    const { values } = this.#ports;
    const text = await values.load(of.reference_id);
    const request_hash = isLookedAt(check)
      ? await this.#checked(LargeJson.of(text), check)
      : undefined;
    const reference = await values.save(execution_id, text);
    return { input: JSON.parse(envelopeText(reference)), request_hash };
  }

  /** Nobody has the execution that something was kept for. */
  async forget(execution_id: string): Promise<void> {
    await this.#ports.values.deleteAll(execution_id).catch((error: unknown) => {
      const message = "could not delete the input of an execution that was not created";
      this.#ports.log.warn({ err: error, execution_id }, message);
    });
  }

  close(): Promise<void> {
    return this.#thread.close();
  }

  async #checked(given: LargeJson, check: Check): Promise<string | undefined> {
    const { schema = null, root, hashedWith } = check;
    if (!isLookedAt(check)) return undefined;
    const { request_hash } = await given.lend((bytes) =>
      this.#thread.run({
        bytes,
        schema,
        root,
        ...(hashedWith !== undefined && { hashedWith }),
      }),
    );
    return request_hash;
  }
}

function isLookedAt({ schema, hashedWith }: Check): boolean {
  return Boolean(schema) || hashedWith !== undefined;
}

/** A value as it is stored; also of one that is small enough to be made here. */
export function encodedLarge(given: LargeJson): Encoded {
  try {
    refuseUnencodable(given);
    return JSON.parse(storedText(given));
  } finally {
    given.release();
  }
}

function refuseUnencodable({ scanned: { depth, hasProto } }: LargeJson): void {
  if (hasProto) {
    throw invalidField("body", 'it cannot be stored: a key named "__proto__" cannot be kept');
  }
  if (depth <= MAX_VALUE_DEPTH) return;
  throw invalidField(
    "body",
    `it cannot be stored: it is nested deeper than ${MAX_VALUE_DEPTH} levels`,
  );
}

/** What is JSON is stored as it came. Only what looks like a wrapping of ours is wrapped. */
function storedText(given: LargeJson): string {
  const { onlyKey, values } = given.scanned;
  if (onlyKey !== RICH && onlyKey !== STORED) return given.text;
  if (values > MOST_WRAPPED) {
    throw invalidField(
      "body",
      `"${onlyKey}" as the only key of a value of more than ${MOST_WRAPPED} parts cannot be kept; rename it, or add another key`,
    );
  }
  return JSON.stringify(encode(JSON.parse(given.text) as Json, "input"));
}

/** Whether an error says for certain that nothing was written. */
export function isRefusal(error: unknown): boolean {
  return error instanceof EngineError && error.code !== "unavailable";
}
