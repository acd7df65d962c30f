/** The program of the thread that looks through large JSON, one text at a time. */
import { parentPort } from "node:worker_threads";
import { EngineError, type Json } from "@engine/contract";
import { checkInputHere } from "../catalog/input/input-check.ts";
import { requestHash } from "../executions/idempotency.ts";
import type { Answers, InputJob, JsonJob, JsonReply } from "./json-jobs.ts";
import { scanJson } from "./scan-json.ts";

parentPort?.on("message", (job: JsonJob) => {
  const reply = replyTo(job);
  const bytes = "answer" in reply ? [reply.answer.bytes.buffer] : [];
  parentPort?.postMessage(reply, bytes);
});

function replyTo(job: JsonJob): JsonReply {
  try {
    return { answer: answerTo(job) };
  } catch (error) {
    if (error instanceof EngineError) return { refused: error.toBody().error };
    return { failed: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

function answerTo(job: JsonJob): Answers[keyof Answers] {
  const { bytes } = job;
  if (job.kind === "scan") {
    const { values, depth, hasProto, onlyKey, large } = scanJson(bytes);
    return { bytes, scanned: { values, depth, hasProto, onlyKey, large } };
  }
  const value: Json = JSON.parse(Buffer.from(bytes.buffer).toString("utf8"));
  return { bytes, ...checked(job, value) };
}

function checked({ schema, root, hashedWith }: InputJob, value: Json): { request_hash?: string } {
  checkInputHere(schema, value, root);
  return hashedWith === undefined ? {} : { request_hash: requestHash(value, hashedWith) };
}
