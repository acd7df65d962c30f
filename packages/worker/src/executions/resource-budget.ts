import { EngineError, type TaskRequests } from "@engine/contract";

type Amounts = Readonly<Record<keyof TaskRequests, number>>;

interface Waiting {
  readonly wanted: Amounts;
  grant(): void;
}

/**
 * What a worker has for the bodies of its tasks (RES-4). Requests are served in the order in which
 * they came: one that must wait keeps later ones waiting, so none is passed over for ever.
 */
export class ResourceBudget {
  readonly #total: Amounts;
  #used: Amounts = { cpu: 0, memory: 0, gpu: 0 };
  readonly #waiting = new Set<Waiting>();

  /** @param total Of a resource that is not named here there is nothing. */
  constructor(total: TaskRequests) {
    this.#total = amountsOf(total);
  }

  /**
   * Waits until there is room, and takes it. The function it gives puts the room back, once. Rejects
   * with the signal's reason, or when the worker could never have that much.
   */
  async acquire(request: TaskRequests, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    const wanted = amountsOf(request);
    const lacking = RESOURCES.find((name) => wanted[name] > this.#total[name]);
    if (lacking) {
      throw new EngineError(
        "invalid_input",
        `a task requests ${wanted[lacking]} ${lacking}, and this worker has ${this.#total[lacking]}; lower the request, or run it on a larger worker`,
      );
    }
    if (this.#waiting.size > 0 || !this.#hasRoom(wanted)) await this.#turn(wanted, signal);
    else this.#add(wanted, 1);
    return this.#giveBack(wanted);
  }

  /** Takes room whether there is some or not; requests behind this one wait until there is again. */
  take(request: TaskRequests): () => void {
    const wanted = amountsOf(request);
    this.#add(wanted, 1);
    return this.#giveBack(wanted);
  }

  #giveBack(wanted: Amounts): () => void {
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#add(wanted, -1);
      this.#serve();
    };
  }

  #turn(wanted: Amounts, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const entry: Waiting = {
        wanted,
        grant() {
          signal?.removeEventListener("abort", giveUp);
          resolve();
        },
      };
      const giveUp = () => {
        this.#waiting.delete(entry);
        reject(signal?.reason);
        // The request that was given up may have kept later ones waiting.
        this.#serve();
      };
      signal?.addEventListener("abort", giveUp, { once: true });
      this.#waiting.add(entry);
    });
  }

  #serve(): void {
    for (const entry of this.#waiting) {
      if (!this.#hasRoom(entry.wanted)) return;
      this.#waiting.delete(entry);
      this.#add(entry.wanted, 1);
      entry.grant();
    }
  }

  #hasRoom(wanted: Amounts): boolean {
    // Fractions of cores add up to a little more or less than they should.
    return RESOURCES.every((name) => this.#used[name] + wanted[name] <= this.#total[name] + 1e-9);
  }

  #add(amount: Amounts, sign: 1 | -1): void {
    const { cpu, memory, gpu } = this.#used;
    this.#used = {
      cpu: cpu + sign * amount.cpu,
      memory: memory + sign * amount.memory,
      gpu: gpu + sign * amount.gpu,
    };
  }
}

const RESOURCES = ["cpu", "memory", "gpu"] as const;

function amountsOf({ cpu = 0, memory = 0, gpu = 0 }: TaskRequests): Amounts {
  return { cpu, memory, gpu };
}
