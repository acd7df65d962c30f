/** The program of the thread that looks through the bodies of requests. */
import { scanJson } from "./scan-json.ts";
import type { ScanAnswer } from "./scan-thread.ts";
import { type JsonJob, serveJson } from "./serve-json.ts";

serveJson<JsonJob, ScanAnswer>(({ bytes }) => {
  const { values, depth, hasProto, onlyKey, large } = scanJson(bytes);
  return { bytes, scanned: { values, depth, hasProto, onlyKey, large } };
});
