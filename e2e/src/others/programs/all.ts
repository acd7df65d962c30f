import type { Programs } from "../program.ts";
import { atOnce } from "./at-once.ts";
import { cancels } from "./cancels.ts";
import { changing } from "./changing.ts";
import { children } from "./children.ts";
import { clocks } from "./clocks.ts";
import { elsewhere } from "./elsewhere.ts";
import { errors } from "./errors.ts";
import { fallbacks } from "./fallbacks.ts";
import { graphs } from "./graphs.ts";
import { idempotency } from "./idempotency.ts";
import { insideTasks } from "./inside-tasks.ts";
import { keptResults } from "./kept-results.ts";
import { loops } from "./loops.ts";
import { overtaking } from "./overtaking.ts";
import { pauses } from "./pauses.ts";
import { progresses } from "./progress.ts";
import { races } from "./races.ts";
import { retries } from "./retries.ts";
import { sagas } from "./sagas.ts";
import { schedules } from "./schedules.ts";
import { schemas } from "./schemas.ts";
import { signalInstants } from "./signal-instants.ts";
import { signals } from "./signals.ts";
import { sizes } from "./sizes.ts";
import { sleeps } from "./sleeps.ts";
import { taskTimeouts } from "./task-timeouts.ts";
import { values } from "./values.ts";
import { versions } from "./versions.ts";
import { workflowTimeouts } from "./workflow-timeouts.ts";

export * from "./at-once.ts";
export * from "./cancels.ts";
export * from "./changing.ts";
export * from "./children.ts";
export * from "./clocks.ts";
export * from "./elsewhere.ts";
export * from "./errors.ts";
export * from "./fallbacks.ts";
export * from "./graphs.ts";
export * from "./idempotency.ts";
export * from "./inside-tasks.ts";
export * from "./kept-results.ts";
export * from "./loops.ts";
export * from "./overtaking.ts";
export * from "./pauses.ts";
export * from "./progress.ts";
export * from "./races.ts";
export * from "./retries.ts";
export * from "./sagas.ts";
export * from "./schedules.ts";
export * from "./schemas.ts";
export * from "./signal-instants.ts";
export * from "./signals.ts";
export * from "./sizes.ts";
export * from "./sleeps.ts";
export * from "./task-timeouts.ts";
export * from "./values.ts";
export * from "./versions.ts";
export * from "./workflow-timeouts.ts";

/** Every program; the file with all workflows, which is registered as it is. */
export const PROGRAMS: Programs = {
  ...atOnce,
  ...cancels,
  ...changing,
  ...children,
  ...clocks,
  ...elsewhere,
  ...errors,
  ...fallbacks,
  ...graphs,
  ...idempotency,
  ...insideTasks,
  ...keptResults,
  ...loops,
  ...overtaking,
  ...pauses,
  ...progresses,
  ...races,
  ...retries,
  ...sagas,
  ...schedules,
  ...schemas,
  ...signalInstants,
  ...signals,
  ...sizes,
  ...sleeps,
  ...taskTimeouts,
  ...values,
  ...versions,
  ...workflowTimeouts,
};
