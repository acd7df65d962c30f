import { delay, type World } from "../world.ts";

/** Between two looks whether anything of a group is left. */
const LOOK_MS = 50;

/**
 * Ends a process group: with SIGTERM, and after the grace with SIGKILL. Settles when no process of it
 * is left that could run on.
 *
 * @param pid Of the process that leads the group.
 */
export async function endGroup(
  pid: number,
  { graceMs, setTimer }: { graceMs: number } & Pick<World, "setTimer">,
): Promise<void> {
  const never = new AbortController().signal;
  if (!signalGroup(pid, "SIGTERM")) return;
  for (let waited = 0; waited < graceMs; waited += LOOK_MS) {
    await delay(setTimer, Math.min(LOOK_MS, graceMs - waited), never);
    if (!signalGroup(pid, 0)) return;
  }
  signalGroup(pid, "SIGKILL");
}

/** Whether there was anything to send it to. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    // Windows has no groups.
    process.kill(process.platform === "win32" ? pid : -pid, signal);
    return true;
  } catch {
    return false;
  }
}
