/** What the thread for large JSON is asked, and what it answers. */
import type { ErrorBody, Json } from "@engine/contract";
import type { Scanned } from "./scan-json.ts";

/** They travel both ways without being copied. */
type Bytes = Uint8Array<ArrayBuffer>;

/** Whether it is JSON at all. */
export interface ScanJob {
  readonly kind: "scan";
  readonly bytes: Bytes;
}

/** Whether it fits the schema of a workflow, and how it is told from other inputs. */
export interface InputJob {
  readonly kind: "input";
  readonly bytes: Bytes;
  readonly schema: Record<string, Json> | null;
  /** What it is, first in the path of each issue. */
  readonly root: string;
  /** The version that was asked for beside it, where the two of them are to be told from others. */
  readonly hashedWith?: number | null;
}

export type JsonJob = ScanJob | InputJob;

export interface Answers {
  readonly scan: { readonly bytes: Bytes; readonly scanned: Scanned };
  readonly input: { readonly bytes: Bytes; readonly request_hash?: string };
}

export type JsonReply<Kind extends keyof Answers = keyof Answers> =
  | { readonly answer: Answers[Kind] }
  | { readonly refused: ErrorBody["error"] }
  | { readonly failed: string };
