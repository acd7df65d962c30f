import {
  type Encoded,
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
import type { Domain } from "../domain.ts";
import type { EnginePorts } from "../engine-ports.ts";
import { type InputCheck, inputThread } from "./input-thread.ts";

export interface Kept {
  /** As the row has it: the value, or the place where it lies. */
  readonly input: Encoded;
  readonly request_hash: string | undefined;
  /** As much of the input as the paths of the check need. */
  readonly picked?: unknown;
}

/** Parts of an input that has to be wrapped, for which a value is made of it. */
const MOST_WRAPPED = 50_000;

/**
 * Inputs that came as large bodies. They are checked on a thread and go as text from the socket to the
 * storage (EXE-49); the row has the place. Outside of that thread, the first to make a value of such a
 * text is the runner of the execution.
 */
export class LargeInputs implements Domain {
  readonly #ports: Pick<EnginePorts, "values" | "config" | "log">;
  readonly #thread = inputThread();

  constructor(ports: Pick<EnginePorts, "values" | "config" | "log">) {
    this.#ports = ports;
  }

  /** Checks an input and keeps it for an execution that may not exist yet. */
  async keep(execution_id: string, given: LargeJson, check: InputCheck): Promise<Kept> {
    try {
      refuseUnencodable(given);
      const checked = await this.#checked(given, check);
      const text = storedText(given);
      const { inline_value_bytes } = this.#ports.config.executions;
      if (given.length <= inline_value_bytes) return { input: JSON.parse(text), ...checked };
      const reference = await this.#ports.values.save(execution_id, text);
      return { input: JSON.parse(envelopeText(reference)), ...checked };
    } finally {
      given.release();
    }
  }

  /** The hash that tells an input from others under its key, of one that is not kept. */
  async hashOf(given: LargeJson, version: number | null): Promise<string> {
    try {
      const check = { schema: null, root: "body", hashedWith: version };
      return (await this.#checked(given, check)).request_hash ?? "";
    } finally {
      given.release();
    }
  }

  /** Checks the input of another execution, and keeps a copy. */
  async copy(execution_id: string, of: StoredReference, check: InputCheck): Promise<Kept> {
    const { values } = this.#ports;
    const text = await values.load(of.reference_id);
    const checked = await this.#checked(LargeJson.of(text), check);
    const reference = await values.save(execution_id, text);
    return { input: JSON.parse(envelopeText(reference)), ...checked };
  }

  /** Deletes what was kept for an execution that was not created. */
  async forget(execution_id: string): Promise<void> {
    await this.#ports.values.deleteAll(execution_id).catch((error: unknown) => {
      const message = "could not delete the input of an execution that was not created";
      this.#ports.log.warn({ err: error, execution_id }, message);
    });
  }

  close(): Promise<void> {
    return this.#thread.close();
  }

  async #checked(given: LargeJson, check: InputCheck): Promise<Omit<Kept, "input">> {
    const { schema, hashedWith, paths } = check;
    if (!schema && hashedWith === undefined && !paths) return { request_hash: undefined };
    const answer = await given.lend((bytes) => this.#thread.run({ bytes, ...check }));
    return { request_hash: answer.request_hash, picked: answer.picked };
  }
}

/** A large body as it is stored with the log, made into a value here. */
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

/** The text is stored as it came. Only a value that looks like a wrapping of ours is wrapped. */
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
