import { invalidField, MOST_SELECTORS, type ServiceChanges } from "@engine/contract";
import type { ServiceChoice } from "@engine/store";

const LISTS = ["namespaces", "workflows", "exclusions"] as const;

/**
 * A service's choice after a change: adds, then removes (SVC-22).
 *
 * @throws EngineError `invalid_input` for a list that would have too many entries.
 */
export function changedChoice(before: ServiceChoice, changes: ServiceChanges): ServiceChoice {
  const { mcp_enabled = before.mcp_enabled, description = before.description } = changes;
  const lists = LISTS.map((list) => {
    const added = [...new Set([...before[list], ...(changes[`add_${list}`] ?? [])])];
    const removed = new Set(changes[`remove_${list}`]);
    const after = added.filter((entry) => !removed.has(entry));
    if (after.length > MOST_SELECTORS) {
      const message = `makes ${after.length} entries of ${list}; a service has at most ${MOST_SELECTORS}`;
      throw invalidField(`body.add_${list}`, message);
    }
    return [list, after];
  });
  return { ...before, mcp_enabled, description, ...Object.fromEntries(lists) };
}
