import type { Group } from "./call.ts";
import type { Core } from "./core.ts";

/**
 * Gives up every open call of a group: bodies are told, waits end at once, whoever is still open
 * after the grace is recorded as cancelled. `then` runs when none is open any more.
 */
export function abandon(core: Core, group: Group, then: () => void): void {
  const { parking, options } = core;
  const finish = () => {
    core.releases.afterTurn(() => {
      core.closeCombinators(group);
      then();
    });
  };
  group.abort();
  group.whenEmpty(finish);
  core.whenLive(() => {
    for (const call of [...group.open]) if (call.isWait) core.cancel(call);
    if (![...group.open].some((call) => !call.isConcluded)) return;
    parking.active++;
    let isPassing = true;
    const cancelTimer = options.host.setTimer(() => {
      done();
      // Innermost first: the call made last is the deepest one still open.
      for (const call of [...group.open].reverse()) core.cancel(call);
    }, options.limits.sibling_grace * 1000);
    const done = () => {
      if (!isPassing) return;
      isPassing = false;
      parking.active--;
      parking.soon();
    };
    group.whenEmpty(() => {
      cancelTimer();
      done();
      finish();
    });
  });
}
