import { type JsonBytes, type JsonJob, JsonThread } from "@engine/http/json";
import type { InputSchema } from "../catalog/input/input-check.ts";

/** What an input has to be, and how it is told from others under an idempotency key. */
export interface InputCheck {
  readonly schema: InputSchema;
  /** What the input is, first in the path of each issue. */
  readonly root: string;
  /** The version that was asked for beside the input; left out where no hash of the two is wanted. */
  readonly hashedWith?: number | null | undefined;
  /** Paths of the input that are wanted of it. */
  readonly paths?: readonly string[] | undefined;
}

export interface InputJob extends JsonJob, InputCheck {}

export interface InputAnswer {
  readonly bytes: JsonBytes;
  readonly request_hash?: string;
  /** As much of the input as the paths need. */
  readonly picked?: unknown;
}

export type InputThread = JsonThread<InputJob, InputAnswer>;

const fromSources = import.meta.url.endsWith(".ts");
const program = new URL(
  fromSources ? "./input-thread-main.ts" : "./input-thread-main.js",
  import.meta.url,
);

/** Checks inputs that came as large bodies, one after the other. */
export function inputThread(): InputThread {
  return new JsonThread({ program, makesValues: () => true });
}
