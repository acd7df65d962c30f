import type { EnginePorts } from "../engine-ports.ts";

/**
 * Says how many executions of nobody there are, which authorization holds, and what lets them go on
 * (AUTH-62).
 */
export async function tellOfHeld({
  store,
  log,
}: Pick<EnginePorts, "store" | "log">): Promise<void> {
  const versions = await store.acting.versions({ subject: null });
  const executions = versions.reduce((sum, { count }) => sum + count, 0);
  if (executions === 0) return;
  log.warn(
    { executions },
    "these executions are nobody's, from before authorization was on, and wait until somebody has them: `engine execution take-over --all --run-as <subject>`",
  );
}
