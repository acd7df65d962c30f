import { EngineError, type TaskRequests } from "@engine/contract";
import { Room } from "../room.ts";

const RESOURCES = ["cpu", "memory", "gpu"] as const;

type Requested = Record<keyof TaskRequests, number>;

/**
 * What a worker has for the bodies of its tasks, and the parts of it that each copy's calls have or
 * wait for (RES-4). Requests of all copies are served in the order in which they came.
 */
export class Reservations {
  readonly #total: Requested;
  readonly #room: Room;
  /** What gives back the part of each call, or ends its waiting, by copy. */
  readonly #copies = new Map<number, Map<string, () => void>>();

  /** @param total Of a resource that is not named here there is nothing. */
  constructor(total: TaskRequests) {
    this.#total = amountsOf(total);
    this.#room = new Room(this.#total);
  }

  /**
   * Settles when the call has what it requests. Rejects when that was released before, or when the
   * worker could never have that much.
   */
  async reserve(copy: number, call: string, requests: TaskRequests): Promise<void> {
    this.release(copy, call);
    const wanted = amountsOf(requests);
    const lacking = RESOURCES.find((name) => wanted[name] > this.#total[name]);
    if (lacking) {
      throw new EngineError(
        "invalid_input",
        `a task requests ${wanted[lacking]} ${lacking}, and this worker has ${this.#total[lacking]}; lower the request, or run it on a larger worker`,
      );
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const place = this.#room.ask(wanted);
    this.#add(copy, call, () => {
      place.leave();
      reject(new Error(`${call} needs no room any more`));
    });
    void place.had.then(resolve);
    await promise;
  }

  /** The call has what it requests at once, whether there is room or not. */
  retake(copy: number, call: string, requests: TaskRequests): void {
    this.release(copy, call);
    const place = this.#room.ask(amountsOf(requests), { atOnce: true });
    this.#add(copy, call, () => place.leave());
  }

  release(copy: number, call: string): void {
    const calls = this.#copies.get(copy);
    const end = calls?.get(call);
    calls?.delete(call);
    if (calls?.size === 0) this.#copies.delete(copy);
    end?.();
  }

  /** The copy is over: all that its calls had is free. */
  releaseAll(copy: number): void {
    for (const call of this.#copies.get(copy)?.keys() ?? []) this.release(copy, call);
  }

  #add(copy: number, call: string, end: () => void): void {
    const calls = this.#copies.get(copy) ?? new Map<string, () => void>();
    this.#copies.set(copy, calls.set(call, end));
  }
}

function amountsOf({ cpu = 0, memory = 0, gpu = 0 }: TaskRequests): Requested {
  return { cpu, memory, gpu };
}
