import { type ExecutionRow, hookExecutionId } from "@engine/contract";
import { sha256 } from "./sha256.ts";

/** How the ids of tests begin (HOOK-37). */
const TEST = "hook-test-";

/**
 * The hook by which an execution was started, as its token says it (HOOK-45); null for all others, also for
 * those that only have a hook behind them, such as its children.
 */
export function hookOf({
  execution_id,
  hook,
  parent_id,
  forked_from,
}: Pick<ExecutionRow, "execution_id" | "hook" | "parent_id" | "forked_from">): string | null {
  if (!hook?.name || !hook.delivery_id || parent_id !== null || forked_from !== null) return null;
  if (hook.delivery_id.startsWith(TEST)) return `hook:${hook.name}:test`;
  const isOwn = hookExecutionId(hook.delivery_id, sha256) === execution_id;
  return isOwn ? `hook:${hook.name}` : null;
}
