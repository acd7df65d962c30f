import { type JsonBytes, type JsonJob, JsonThread } from "@engine/http/json";
import type { InputSchema } from "../catalog/input/input-check.ts";

/** Whether an input fits the schema of its workflow, and how it is told from other inputs. */
export interface InputJob extends JsonJob {
  readonly schema: InputSchema;
  /** What it is, first in the path of each issue. */
  readonly root: string;
  /** The version that was asked for beside it, where the two of them are to be told from others. */
  readonly hashedWith?: number | null;
}

export interface InputAnswer {
  readonly bytes: JsonBytes;
  readonly request_hash?: string;
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
