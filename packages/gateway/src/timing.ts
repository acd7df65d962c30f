import type { Timing } from "@engine/client";

/** The clock and the timers of the gateway; tests move them by hand. */
export type GatewayTiming = Pick<Timing, "now" | "setTimer">;

export const systemTiming: GatewayTiming = {
  now: () => performance.now(),
  setTimer: (run, ms) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};
