/** Idempotency keys (EXE-84): whoever starts the same again gets the execution that is there. */
import { hash } from "node:crypto";
import { EngineError, type ExecutionRow, type Json } from "@engine/contract";
import type { StartRequest } from "./requests.ts";

/** 1 to 255 printable ASCII characters. */
const KEY = /^[\x20-\x7e]{1,255}$/;

/** The key among all executions; undefined without one. */
export function keyOf(request: Omit<StartRequest, "input">): string | undefined {
  const { idempotency_key, by, namespace, workflow } = request;
  if (idempotency_key === undefined) return undefined;
  if (!KEY.test(idempotency_key)) {
    const message = "Idempotency-Key must be 1 to 255 printable ASCII characters";
    throw new EngineError("bad_request", message);
  }
  // Callers share nothing: without auth there is one for all.
  return `idempotency ${sha256([by, namespace, workflow, idempotency_key])}`;
}

/** Of what a start asks for, by which it is told from others under the same key. */
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

/** Equal objects are equal whatever the order of their keys. */
function sorted(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries);
}
