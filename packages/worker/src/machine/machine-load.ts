import { cpus, loadavg } from "node:os";

/** How busy the machine is, whoever keeps it busy. */
export interface MachineLoad {
  /** Time of all processors since the start of the machine; undefined where it does not say. */
  cpu(): CpuTime | undefined;
  /** Load over a minute; undefined where there is none. */
  average(): number | undefined;
}

export interface CpuTime {
  readonly busy: number;
  readonly total: number;
}

export const machineLoad: MachineLoad = {
  cpu() {
    let [busy, total] = [0, 0];
    for (const { times } of cpus()) {
      const worked = times.user + times.nice + times.sys + times.irq;
      busy += worked;
      total += worked + times.idle;
    }
    return total > 0 ? { busy, total } : undefined;
  },
  // There it is always 0.
  average: () => (process.platform === "win32" ? undefined : loadavg()[0]),
};
