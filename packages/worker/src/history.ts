import type { Assignment, Event, WorkerProtocol } from "@engine/contract";
import type { Session } from "./session.ts";

const PAGE = 1_000;

/**
 * The log of an assignment behind `from`: its frame brings the end, what lies before is read by
 * pages.
 */
export async function readHistory(
  { execution_id, generation, history }: Assignment,
  link: WorkerProtocol,
  session: Session,
  { tries, from = 0 }: { tries: number; from?: number },
): Promise<readonly Event[]> {
  const events: Event[] = [];
  for (let after = from; after < history.after; after = from + events.length) {
    const limit = Math.min(PAGE, history.after - after);
    const page = await session.persist(
      (ref) => link.events(ref, execution_id, { generation, after, limit }),
      { tries },
    );
    if (page.events.length === 0) {
      throw new Error(`the server has no event after ${after} of ${history.after} announced`);
    }
    events.push(...page.events);
  }
  return events.concat(history.events.slice(Math.max(0, from - history.after)));
}
