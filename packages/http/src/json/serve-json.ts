import { parentPort } from "node:worker_threads";
import { EngineError, type ErrorBody } from "@engine/contract";

/** Bytes that are handed to the thread and back without being copied. */
export type JsonBytes = Uint8Array<ArrayBuffer>;

export interface JsonJob {
  readonly bytes: JsonBytes;
}

export type JsonReply<Answer> =
  | { readonly answer: Answer }
  | { readonly refused: ErrorBody["error"] }
  | { readonly failed: string };

/** What the program of a `JsonThread` calls: answers its jobs, one text at a time. */
export function serveJson<Job extends JsonJob, Answer extends JsonJob>(
  answer: (job: Job) => Answer,
): void {
  parentPort?.on("message", (job: Job) => {
    const reply = replyTo(job, answer);
    const bytes = "answer" in reply ? [reply.answer.bytes.buffer] : [];
    parentPort?.postMessage(reply, bytes);
  });
}

function replyTo<Job, Answer>(job: Job, answer: (job: Job) => Answer): JsonReply<Answer> {
  try {
    return { answer: answer(job) };
  } catch (error) {
    if (error instanceof EngineError) return { refused: error.toBody().error };
    return { failed: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}
