import { workflow } from "@engine/sdk";
import { concurrency } from "@engine/sdk/routing";

/** Of what a hook gives its target, what is read here. */
interface Fired {
  readonly event: { readonly value: unknown };
}

/**
 * What a hook starts: milliseconds since the body whose end fired it, by a clock that all processes of the
 * machine share. Only for measuring: a body that reads a clock of its own would diverge.
 */
export const landed = workflow(
  { name: "landed", namespace: "bench" },
  ({ event }: Fired): Promise<number> =>
    Promise.resolve(Number(process.hrtime.bigint()) / 1e6 - Number(event.value)),
);

/** Says when its body began, for hooks to wait for. */
export const fires = workflow(
  { name: "fires", namespace: "bench" },
  (_: null): Promise<number> => Promise.resolve(Number(process.hrtime.bigint()) / 1e6),
);

/** Its one place is taken for as long as it is measured, so that no hook can start it. */
export const full = workflow(
  { name: "full", namespace: "bench", limits: [concurrency(1, { overflow: "reject" })] },
  (_: unknown): Promise<void> => new Promise(() => {}),
);
