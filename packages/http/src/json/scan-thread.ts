import { JsonThread } from "./json-thread.ts";
import type { Scanned } from "./scan-json.ts";
import type { JsonBytes, JsonJob } from "./serve-json.ts";

/** What a scan answers: the bytes it was given, and what is known of them now. */
export interface ScanAnswer {
  readonly bytes: JsonBytes;
  readonly scanned: Scanned;
}

/** Looks whether a text is JSON at all, without making a value of it. */
export type ScanThread = JsonThread<JsonJob, ScanAnswer>;

const fromSources = import.meta.url.endsWith(".ts");
const program = new URL(
  fromSources ? "./scan-thread-main.ts" : "./scan-thread-main.js",
  import.meta.url,
);

export function scanThread(): ScanThread {
  return new JsonThread({ program });
}
