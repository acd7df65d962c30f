import type { Readable, Writable } from "node:stream";
import type { Silence } from "./silence.ts";

export interface PassOnOptions {
  /** Of the side that bytes come from. */
  readonly source?: Silence;
  /** Of the side that they go to. */
  readonly sink?: Silence;
  /** All have been handed on. */
  readonly onEnd: () => void;
}

/**
 * Hands bytes on as they come, no more of them than are taken (GW-12). Unlike a pipeline it leaves
 * alone what breaks: what that means for the other side is for the caller to say.
 *
 * @returns Stops; what still comes is thrown away.
 */
export function passOn(
  from: Readable,
  to: Writable,
  { source, sink, onEnd }: PassOnOptions,
): () => void {
  const waitForSource = () => {
    sink?.rest();
    source?.watch();
  };
  const waitForSink = () => {
    source?.rest();
    sink?.watch();
  };
  const take = (piece: Uint8Array) => {
    if (to.write(piece)) {
      waitForSource();
      return;
    }
    from.pause();
    waitForSink();
  };
  const goOn = () => {
    waitForSource();
    from.resume();
  };
  const end = () => {
    stop();
    onEnd();
  };
  const stop = () => {
    from.off("data", take).off("end", end);
    to.off("drain", goOn);
    source?.rest();
    sink?.rest();
    from.resume();
  };
  to.on("drain", goOn);
  waitForSource();
  from.once("end", end).on("data", take);
  return stop;
}
