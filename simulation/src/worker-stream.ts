import type { WorkerConnection, WorkerFrame } from "@engine/contract";
import { copied, HALF_OPEN_MS, type Network } from "./network.ts";
import type { Process } from "./process.ts";
import type { ServerAddress } from "./servers.ts";
import type { World } from "./world.ts";

interface Parts {
  readonly network: Network;
  readonly world: World;
  readonly worker: Process;
  readonly address: ServerAddress;
  readonly tell: (frame: WorkerFrame) => void;
}

export interface SimulatedConnection extends WorkerConnection {
  /** The server's frames go in here. */
  readonly send: (frame: WorkerFrame) => void;
  serverSide(server: Process, connection: WorkerConnection): void;
  /** The worker has its answer: frames may come. */
  open(): void;
}

/**
 * A stream of frames, each with a journey of its own but in order. It breaks between any two of them,
 * and then each side hears of it soon, late, or by what it does not hear.
 */
export function openConnection({
  network,
  world,
  worker,
  address,
  tell,
}: Parts): SimulatedConnection {
  const closed = Promise.withResolvers<void>();
  const early: WorkerFrame[] = [];
  let [isOpen, isBroken, lastAt] = [false, false, 0];
  let isWorkerClosed = false;
  let server: Process | undefined;
  let ofServer: WorkerConnection | undefined;

  const endWorker = () => {
    isWorkerClosed = true;
    closed.resolve();
  };
  const endServer = () => ofServer?.close();
  const tellWorker = () => {
    const isTold = network.tells(address.name, worker.name);
    worker.after(isTold ? network.delay() : HALF_OPEN_MS, endWorker);
  };
  const tellServer = () => {
    const isTold = network.tells(worker.name, address.name);
    server?.after(isTold ? network.delay() : HALF_OPEN_MS, endServer);
  };
  const pass = (frame: WorkerFrame) => {
    if (isBroken) return;
    const delay = network.frameDelay(address.name, worker.name);
    if (delay === undefined) {
      isBroken = true;
      world.trace.say(
        "network",
        () => `the stream of ${worker.name} breaks before: ${frame.event}`,
      );
      tellWorker();
      tellServer();
      return;
    }
    if (delay === Number.POSITIVE_INFINITY) {
      // Nothing comes through: what follows on this connection would be out of order.
      isBroken = true;
      server?.after(HALF_OPEN_MS, endServer);
      worker.after(HALF_OPEN_MS, endWorker);
      return;
    }
    // In order, whatever the draws.
    lastAt = Math.max(lastAt + 0.001, (server?.time.reached ?? world.now) + delay);
    const copy = copied(frame);
    worker.hear(lastAt - world.now, () => {
      if (isWorkerClosed) return;
      world.trace.say(worker.name, () => `hears of ${address.name}: ${frameText(world, copy)}`);
      tell(copy);
    });
  };

  return {
    closed: closed.promise,
    send(frame) {
      if (isOpen) pass(frame);
      else early.push(copied(frame));
    },
    serverSide(process, connection) {
      server = process;
      ofServer = connection;
      void connection.closed.then(() => {
        if (process.isAlive && !isBroken) {
          isBroken = true;
          tellWorker();
        }
      });
      address.onDeath(process, () => {
        isBroken = true;
        tellWorker();
      });
      // Nobody is there any more to hear that it opened.
      if (isWorkerClosed) tellServer();
    },
    open() {
      isOpen = true;
      for (const frame of early.splice(0)) pass(frame);
    },
    close() {
      if (isWorkerClosed) return;
      endWorker();
      tellServer();
    },
  };
}

export function frameText({ trace }: World, { event, data }: WorkerFrame): string {
  switch (event) {
    case "assign":
      return `assign ${trace.name(data.execution_id)}, generation ${data.generation}`;
    case "events":
      return `events of ${trace.name(data.execution_id)} from ${data.base_seq}`;
    case "revoke":
      return `revoke ${trace.name(data.execution_id)}, generation ${data.generation}`;
    case "control":
      return `control ${data.command}`;
    case "welcome":
      return `welcome, keep ${data.keep.length}, drop ${data.drop.length}`;
    default:
      return event;
  }
}
