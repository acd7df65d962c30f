/** What every output storage does alike: it makes references, and checks what they are given back for. */
import { createHash } from "node:crypto";
import { EngineError } from "@engine/contract";
import type { ValueStore } from "./value-store.ts";

/** Where texts lie, by their references. */
export interface ValuePlace {
  readonly type: "file" | "s3";
  /** What one of them is there. */
  readonly unit: string;
  write(reference_id: string, text: string): Promise<void>;
  /** Undefined when it is not there. */
  read(reference_id: string): Promise<string | undefined>;
  deleteAll(execution_id: string): Promise<void>;
  /** Why it failed, in words for an operator. */
  reasonOf(cause: unknown): string;
}

export function storedValues(place: ValuePlace): ValueStore {
  const reporting = async <Value>(done: string, work: Promise<Value>): Promise<Value> => {
    try {
      return await work;
    } catch (cause) {
      const message = `a value could not be ${done} in the output storage: ${place.reasonOf(cause)}; try again`;
      throw new EngineError("unavailable", message, { cause });
    }
  };
  return {
    async save(execution_id, text) {
      assertExecutionId(execution_id);
      const reference_id = `${execution_id}/${digestOf(text)}`;
      await reporting("kept", place.write(reference_id, text));
      const metadata = { bytes: Buffer.byteLength(text) };
      return { storage_type: place.type, reference_id, metadata };
    },
    async load(reference_id) {
      const digest = digestIn(reference_id);
      if (digest === undefined) throw valueGone(reference_id, "no reference looks so");
      const text = await reporting("read", place.read(reference_id));
      if (text === undefined) throw valueGone(reference_id, `its ${place.unit} is not there`);
      if (digestOf(text) !== digest) {
        throw valueGone(reference_id, "it was changed in the storage");
      }
      return text;
    },
    async deleteAll(execution_id) {
      assertExecutionId(execution_id);
      await reporting("deleted", place.deleteAll(execution_id));
    },
  };
}

// Neither dots nor slashes: no reference names a place outside of the storage's own.
const EXECUTION_ID = /^[A-Za-z0-9_-]{1,128}$/;
const DIGEST = /^[0-9a-f]{64}$/;

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** The digest in a reference that the engine made; undefined for anything else. */
function digestIn(reference_id: string): string | undefined {
  const [execution_id = "", digest = "", ...more] = reference_id.split("/");
  const isOurs = more.length === 0 && EXECUTION_ID.test(execution_id) && DIGEST.test(digest);
  return isOurs ? digest : undefined;
}

/** For code of the engine itself: ids that come from outside are looked up before. */
function assertExecutionId(execution_id: string): void {
  if (!EXECUTION_ID.test(execution_id)) throw new Error(`not an execution id: ${execution_id}`);
}

function valueGone(reference_id: string, why: string): EngineError {
  return new EngineError("not_found", `no stored value ${reference_id}: ${why}`, {
    details: { resource: "value" },
  });
}
