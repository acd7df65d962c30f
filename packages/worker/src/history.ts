import type { Assignment, Event, WorkerProtocol } from "@engine/contract";
import type { Session } from "./session.ts";

const PAGE = 1_000;

/** The whole log of an assignment: its frame brings the end, what lies before is read by pages. */
export async function readHistory(
  { execution_id, generation, history }: Assignment,
  link: WorkerProtocol,
  session: Session,
  { tries }: { tries: number },
): Promise<readonly Event[]> {
  const events: Event[] = [];
  while (events.length < history.after) {
    const after = events.length;
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
  return events.concat(history.events);
}
