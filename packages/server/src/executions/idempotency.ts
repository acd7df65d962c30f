/** Idempotency keys (EXE-84): a second start under a key is answered with the first one's execution. */
import { hash } from "node:crypto";
import { EngineError, type ExecutionRow, type Json } from "@engine/contract";
import type { StartRequest } from "./requests.ts";

/** 1 to 255 printable ASCII characters. */
const KEY = /^[\x20-\x7e]{1,255}$/;

/** The key as it is unique among all executions; undefined without one. */
export function keyOf(request: Omit<StartRequest, "input">): string | undefined {
  const { idempotency_key, by, namespace, workflow } = request;
  if (idempotency_key === undefined) return undefined;
  if (!KEY.test(idempotency_key)) {
    const message = "Idempotency-Key must be 1 to 255 printable ASCII characters";
    throw new EngineError("bad_request", message);
  }
  // Two callers never share a key; without auth all count as one.
  return `idempotency ${sha256([by, namespace, workflow, idempotency_key])}`;
}

/** The hash by which a start is told from others under the same key. */
export function requestHash(input: Json, version: number | null): string {
  return sha256([input, version]);
}

/** Refuses another request under a key that is taken. */
export function refuseMismatch(
  request_hash: string,
  { request_hash: holders, execution_id }: ExecutionRow,
): void {
  if (request_hash === holders) return;
  throw new EngineError(
    "idempotency_mismatch",
    `the idempotency key belongs to execution ${execution_id}, which was started with another input or version; use another key`,
    { details: { execution_id } },
  );
}

function sha256(value: Json): string {
  return hash("sha256", JSON.stringify(value, sorted), "hex");
}

/** Prints equal objects alike, whatever the order of their keys. */
function sorted(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries);
}
