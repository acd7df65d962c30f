import { BroadcastChannel } from "node:worker_threads";

/** Holds a task on a runner thread until the test opens it. */
export interface Gate extends Disposable {
  readonly name: string;
  /** Settles when a task has arrived and waits. */
  arrived(): Promise<void>;
  open(): void;
}

/** What a bundle needs to wait at a gate: `await atGate(name)`. */
export const AT_GATE = `
import { BroadcastChannel } from "node:worker_threads";
function atGate(name) {
  const channel = new BroadcastChannel(name);
  return new Promise((resolve) => {
    channel.onmessage = ({ data }) => {
      if (data !== "open") return;
      channel.close();
      resolve();
    };
    channel.postMessage("arrived");
  });
}
`;

export function createGate(name: string): Gate {
  const channel = new BroadcastChannel(name);
  let count = 0;
  const waiting: (() => void)[] = [];
  channel.onmessage = (message) => {
    if ((message as { data: unknown }).data !== "arrived") return;
    count++;
    waiting.shift()?.();
  };
  return {
    name,
    arrived() {
      if (count > 0) {
        count--;
        return Promise.resolve();
      }
      return new Promise((resolve) =>
        waiting.push(() => {
          count--;
          resolve();
        }),
      );
    },
    open: () => channel.postMessage("open"),
    [Symbol.dispose]: () => channel.close(),
  };
}
