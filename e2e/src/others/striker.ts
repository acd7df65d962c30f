import type { Stage } from "./stage.ts";

const LOOK_MS = 50;
/** No execution more has come to its end in so long: those that have are not kept waiting. */
const QUIET_MS = 800;
const LONGEST_MS = 4_000;

/**
 * Kills the workers of executions that have come to their deadly note: each death serves all that
 * have got so far by then. What was lost several times in a row comes back later and later, so that
 * deaths are few: of a parent and its children one comes to its end, as far as that can be seen.
 */
export async function strikeUntil(stage: Stage, isOver: () => boolean): Promise<void> {
  let [served, seen, since, first] = [0, 0, 0, 0];
  while (!isOver()) {
    spareFamilies(stage);
    const count = stage.folder.doomed().size;
    const now = performance.now();
    if (count > seen) {
      since = now;
      if (seen === served) first = now;
      seen = count;
    }
    const isQuiet = now - since > QUIET_MS || now - first > LONGEST_MS;
    if (seen > served && (isQuiet || active(stage) <= seen - served)) {
      stage.folder.letDie();
      served = seen;
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

/** Executions that could come to their end next. */
function active(stage: Stage): number {
  const open = [...stage.watch.open.values()];
  return open.filter(({ waiting, worker }) => worker !== null || waiting.length === 0).length;
}

function spareFamilies(stage: Stage): void {
  const doomed = stage.folder.doomed();
  for (const { execution_id, parent_id } of stage.watch.open.values()) {
    if (parent_id === null) continue;
    if (doomed.has(parent_id)) stage.folder.spare(execution_id);
    else if (doomed.has(execution_id)) stage.folder.spare(parent_id);
  }
}
