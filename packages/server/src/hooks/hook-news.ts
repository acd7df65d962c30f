import type { EpochWatch } from "../auth/epoch-watch.ts";
import type { EnginePorts } from "../engine-ports.ts";

/** A server that hears of hooks that another one has changed reads them at once. */
export function readHooksOnNews(parts: {
  readonly ports: Pick<EnginePorts, "store" | "log">;
  readonly epochs: Pick<EpochWatch, "onChange">;
}): void {
  const { store, log } = parts.ports;
  parts.epochs.onChange("hooks", () => {
    store.outbox.refresh().catch((error) => {
      // What is known of them serves until it is too old, and is then read before the next commit.
      log.warn({ err: error }, "could not read which hooks have changed");
    });
  });
}
