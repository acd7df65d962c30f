import type { Assignment } from "@engine/contract";
import type { OwnSession } from "../link/own-session.ts";
import type { TextCalls } from "../link/text-link.ts";
import type { LogText } from "../runners/messages.ts";

const PAGE = 1_000;
/** The server makes the next page while this process takes the last one off the wire. */
const IN_FLIGHT = 2;

/**
 * The log of an assignment behind `from`, up to what its frame brought. Pages are passed on as they
 * came: the runner parses them, and sees whether one is missing.
 */
export async function readMissing(
  { execution_id, generation, history }: Assignment,
  from: number,
  {
    link,
    session,
    tries,
  }: { link: Pick<TextCalls, "eventsText">; session: OwnSession; tries: number },
): Promise<LogText> {
  const pages: string[] = [];
  let next = from;
  const readOn = async () => {
    while (next < history.after) {
      const after = next;
      const limit = Math.min(PAGE, history.after - after);
      next += limit;
      const page = { generation, after, limit };
      pages[(after - from) / PAGE] = await session.persist(
        (ref) => link.eventsText(ref, execution_id, page),
        { tries },
      );
    }
  };
  try {
    await Promise.all(Array.from({ length: IN_FLIGHT }, readOn));
  } finally {
    // Once one of the two readers has failed, pages of the other are of no use.
    next = history.after;
  }
  return pages;
}
