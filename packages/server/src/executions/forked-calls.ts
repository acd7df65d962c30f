import type { ExecutionRow, NewEvent } from "@engine/contract";
import type { CallRouting } from "../children/call-resolver.ts";
import type { InnerPorts } from "../engine-ports.ts";
import { readRouting } from "../starts/stored-routing.ts";

const PAGE = 200;

/**
 * Routing inputs of calls that a fork makes anew, which no log has: those of the children that the calls
 * had before. A call that the source has from a fork's copy may have its child there (RIN-3).
 */
export async function forkedRouting(
  source: ExecutionRow,
  open: readonly NewEvent[],
  { store, ring }: Pick<InnerPorts, "store" | "ring">,
): Promise<CallRouting> {
  const wanted = new Set(open.map(({ source_id }) => source_id));
  const found: Record<string, unknown> = {};
  let of: ExecutionRow | undefined = source;
  while (of && wanted.size > 0) {
    for await (const { parent_call_id, routing_input } of childrenOf(of.execution_id, store)) {
      if (parent_call_id === null || !wanted.delete(parent_call_id)) continue;
      const value = readRouting(ring, routing_input);
      if (value) found[parent_call_id] = value;
      if (wanted.size === 0) break;
    }
    of = of.forked_from ? await store.executions.find(of.forked_from.execution_id) : undefined;
  }
  return found;
}

async function* childrenOf(
  parent_id: string,
  store: InnerPorts["store"],
): AsyncGenerator<ExecutionRow> {
  let behind: string | undefined;
  do {
    const page = { parent_id, order: "created_asc", limit: PAGE, offset: 0, behind } as const;
    const { items } = await store.executions.list(page);
    yield* items;
    behind = items.length < PAGE ? undefined : items.at(-1)?.execution_id;
  } while (behind !== undefined);
}
