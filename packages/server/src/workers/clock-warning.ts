import { clockNews } from "@engine/contract";
import type { Log } from "../log.ts";
import type { Session } from "./session.ts";

/** Logs that the clock of a worker differs from the server's, once per change. */
export function warnOfClock(session: Session, log: Log): void {
  const { worker, said } = session;
  const offset_ms = said?.clock_offset_ms ?? null;
  if (offset_ms === null) return;
  const news = clockNews(session.toldOffsetMs, offset_ms);
  if (news === undefined) return;
  session.toldOffsetMs = news === "off" ? offset_ms : 0;
  if (news === "off") {
    log.warn(
      { worker, offset_ms },
      "the clock of a worker's machine is not this server's; what waits there is timed by this server's, but code of tasks sees the wrong time: set the clocks by NTP",
    );
  } else log.info({ worker, offset_ms }, "the clock of a worker's machine is right again");
}
