import type { Evidence } from "../evidence.ts";
import type { Violation } from "./violation.ts";

/** I16: no worker has more than it has slots for, and at rest nothing is counted as in use. */
export function capacity(evidence: Evidence): readonly Violation[] {
  const violations: Violation[] = [];
  const slots = new Map(evidence.sessions.map(({ session_id, slots }) => [session_id, slots]));
  const owners = new Map<string, string>();
  const owned = new Map<string, Set<string>>();
  for (const { execution_id, row, at } of evidence.commits) {
    const before = owners.get(execution_id);
    if (before !== undefined) owned.get(before)?.delete(execution_id);
    if (row.session === null) {
      owners.delete(execution_id);
      continue;
    }
    owners.set(execution_id, row.session);
    const own = owned.get(row.session) ?? new Set();
    owned.set(row.session, own.add(execution_id));
    const most = slots.get(row.session) ?? 0;
    // Without a number it takes as many as come.
    if (most === 0 || own.size <= most || before === row.session) continue;
    const message = `at ${at} session ${row.session} of ${row.worker} has ${own.size} executions and ${most} slots`;
    violations.push({ invariant: "I16", execution_id, message });
  }
  for (const [counter, value] of Object.entries(evidence.counters)) {
    if (value === 0) continue;
    const message = `at rest ${counter} is ${value}`;
    violations.push({ invariant: "I16", execution_id: null, message });
  }
  return violations;
}
