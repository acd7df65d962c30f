import { isDeepStrictEqual } from "node:util";
import { decode } from "@engine/contract";
import type { ClientRequest, Evidence } from "../evidence.ts";
import { type Excuse, uncounted } from "./excuses.ts";
import type { Violation } from "./violation.ts";

/** I1: an acknowledged start is never lost, and one key is one execution. */
export function acknowledgedStarts(
  evidence: Evidence,
  excuse: Excuse = uncounted,
): readonly Violation[] {
  const rows = new Map(evidence.executions.map(({ row }) => [row.execution_id, row]));
  const deleted = new Set(evidence.deletions.map(({ execution_id }) => execution_id));
  const violations: Violation[] = [];
  const found = (execution_id: string, message: string) =>
    violations.push({ invariant: "I1", execution_id, message });

  const byKey = new Map<string, { id: string; input: unknown }>();
  for (const { asked, answer, client } of evidence.requests) {
    if (asked.kind !== "start" || answer.kind !== "done") continue;
    const { execution_id: id } = answer;
    const { workflow, input, key } = asked;
    const row = rows.get(id);
    if (!row) {
      if (deleted.has(id) && excuse("deleted by retention")) continue;
      found(id, `start of ${workflow} was acknowledged to ${client} as ${id}, and no store has it`);
    } else if (row.workflow !== workflow) {
      found(id, `${client} started ${workflow} and got ${id}, which is a ${row.workflow}`);
    } else if (!isDeepStrictEqual(decode(row.input), input)) {
      found(id, `${id} does not have the input that ${client} started it with`);
    }
    if (key === null) continue;
    const scope = `${workflow} ${key}`;
    const first = byKey.get(scope) ?? { id, input };
    byKey.set(scope, first);
    if (first.id !== id) found(id, `key ${key} was answered with ${first.id} and with ${id}`);
    else if (!isDeepStrictEqual(first.input, input)) {
      found(id, `key ${key} was taken for two different inputs`);
    }
  }
  const owners = new Map<string, string>();
  for (const { unique_key, execution_id } of rows.values()) {
    if (unique_key === null) continue;
    const other = owners.get(unique_key);
    if (other !== undefined) found(execution_id, `it and ${other} have the key ${unique_key}`);
    owners.set(unique_key, execution_id);
  }
  return [...violations, ...wronglyRefused(evidence.requests)];
}

/** Repeating the same start under its key is no mistake. */
function wronglyRefused(requests: readonly ClientRequest[]): readonly Violation[] {
  const inputs = new Map<string, unknown[]>();
  for (const { asked } of requests) {
    if (asked.kind !== "start" || asked.key === null) continue;
    const scope = `${asked.workflow} ${asked.key}`;
    inputs.set(scope, [...(inputs.get(scope) ?? []), asked.input]);
  }
  return requests.flatMap(({ asked, answer, client }): Violation[] => {
    if (asked.kind !== "start" || asked.key === null || answer.kind !== "refused") return [];
    const [first, ...others] = inputs.get(`${asked.workflow} ${asked.key}`) ?? [];
    if (answer.code !== "idempotency_mismatch") return [];
    if (others.some((other) => !isDeepStrictEqual(first, other))) return [];
    const message = `${client} repeated key ${asked.key} with the same input and was refused: ${answer.code}`;
    return [{ invariant: "I1", execution_id: null, message }];
  });
}
