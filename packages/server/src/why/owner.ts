import type { ExecutionRow } from "@engine/contract";
import type { Store } from "@engine/store";
import type { Sessions } from "../workers/sessions.ts";
import type { Owner } from "./why.ts";

/** The worker that has an execution: as this server hears it, else as the store says. */
export async function ownerOf(
  { worker, session }: ExecutionRow,
  of: {
    readonly store: { readonly workers: Pick<Store["workers"], "find"> };
    readonly sessions: Pick<Sessions, "find">;
  },
): Promise<Owner | undefined> {
  if (worker === null || session === null) return undefined;
  const held = of.sessions.find(session);
  if (held?.isConnected) {
    return { name: worker, stuck_threads: held.said?.stuck_threads ?? 0, disconnected_at: null };
  }
  const stored = (await of.store.workers.find(worker))?.session;
  if (stored?.session_id !== session) return undefined;
  const { said, disconnected_at } = stored;
  return { name: worker, stuck_threads: said?.stuck_threads ?? 0, disconnected_at };
}
