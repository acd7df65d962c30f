import type { Json } from "@engine/contract";
import type { Clients } from "./clients.ts";
import { changeOf, type Description } from "./descriptions.ts";
import { applyHook, type HookChoice } from "./hook-choices.ts";
import { applyLimit, type LimitChoice } from "./limit-choices.ts";
import type { Operation, Plan } from "./plan.ts";
import { TASKS } from "./programs/draw.ts";
import { type Program, type ProgramInput, ROOT_PATH, type Step } from "./programs/program.ts";
import { randomProgram } from "./programs/random-program.ts";
import type { Random } from "./random.ts";
import type { Readers } from "./readers.ts";
import { type Started, scheduledBy, startedBy } from "./starts.ts";

/** Signals that follow each other within a moment. */
const BURST = 8;
const MOST_GAP_MS = 10;

/** One function behind the other, so that rights may be lost in between. */
const LABOURS = 10;
const LABOUR: Step = {
  ...{ kind: "step", task: "plain", fails: 0, takes_ms: 1_500, nested: 0, progress: 0 },
  ...{ flavour: "text", deaf: false },
};

interface Parts {
  readonly clients: Clients;
  readonly readers: Readers;
  readonly random: Random;
  readonly plan: Plan;
}

/** Does what the plan wants clients to do. */
export class Operations {
  /** Those that are not over. */
  open = 0;
  readonly #parts: Parts;
  readonly #schedules: string[] = [];
  #isEnding = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  begin(operation: Operation): void {
    this.#count(this.#do(operation));
  }

  /** What operators say of a worker, again and again until a server has answered. */
  describe(worker: string, description: Description): void {
    const what = `${description.deed} ${description.key} of worker ${worker}`;
    const change = changeOf(description);
    const said = this.#parts.clients.operate(what, ({ attributes }) =>
      attributes.change(worker, change),
    );
    this.#count(said);
  }

  /** The same of what they allow under a name. */
  allow(choice: LimitChoice): void {
    const what = `${choice.definition ? "set" : "delete"} limit ${choice.name}`;
    this.#count(
      this.#parts.clients.operate(what, (engine, store) => applyLimit(choice, engine, store)),
    );
  }

  /** What somebody does about hooks. */
  hook(choice: HookChoice): void {
    this.#count(this.#hook(choice));
  }

  async #hook(choice: HookChoice): Promise<void> {
    const { clients, plan } = this.#parts;
    let told: readonly string[] = [];
    const by = clients.account()?.id ?? null;
    const isDone = await clients.operate(`${choice.deed} hook ${choice.name}`, async (engine) => {
      told = await applyHook(choice, engine, { accounts: plan.accounts, by });
    });
    if (isDone) for (const execution_id of told) clients.know(execution_id);
  }

  #count(done: Promise<unknown>): void {
    this.open++;
    void done.finally(() => {
      this.open--;
    });
  }

  /** So that an end can be waited for. */
  async endSchedules(): Promise<void> {
    this.#isEnding = true;
    for (const name of this.#schedules) await this.#pause(name);
  }

  async #pause(name: string): Promise<void> {
    await this.#parts.clients.operate(`pause schedule ${name}`, ({ schedules }) =>
      schedules.pause(name),
    );
  }

  async #do({ kind, target, drawn }: Operation): Promise<void> {
    const { clients, readers } = this.#parts;
    if (kind === "start") return this.#start(target, drawn);
    if (kind === "schedule") return this.#schedule(target);
    const execution_id = clients.known[target % Math.max(1, clients.known.length)];
    if (execution_id === undefined) return;
    switch (kind) {
      case "get":
        return clients.get(execution_id);
      case "wait":
        return clients.wait(execution_id);
      case "events":
        return clients.events(execution_id);
      case "cancel":
        return clients.cancel(execution_id);
      case "signal":
        return this.#signals(execution_id, drawn);
      case "resume":
        return clients.resume(execution_id, "r.0");
      case "fork":
        return clients.fork(execution_id, drawn);
      case "follow": {
        const process = clients.processes[target % clients.processes.length];
        return process && readers.follow(process, execution_id);
      }
    }
  }

  /** One, or a whole burst: many of those meet whatever is under way. */
  async #signals(execution_id: string, drawn: number): Promise<void> {
    const { clients } = this.#parts;
    const count = (drawn * 10) % 1 < 0.3 ? BURST : 1;
    const gap = ((drawn * 100) % 1) * MOST_GAP_MS;
    for (let i = 0; i < count; i++) {
      void clients.signal(execution_id, drawn < 0.5 ? "s0" : "s1");
      await clients.pause(gap);
    }
  }

  #start(target: number, drawn: number): Promise<void> {
    const { clients, plan, random } = this.#parts;
    const hasKey = (drawn * 10) % 1 < 0.8;
    const started = startedBy(plan, random, { target, drawn });
    const { workflow, where: { hidden: routing_input, worker: required_worker } = {} } = started;
    const input = this.#input(`program ${target}`, started);
    return clients.start(workflow, input, { hasKey, routing_input, required_worker });
  }

  async #schedule(target: number): Promise<void> {
    const { clients, plan, random } = this.#parts;
    const name = `every-${target}`;
    // Also when nobody hears that it was made.
    this.#schedules.push(name);
    const started = scheduledBy(plan, random, target);
    const { workflow, where } = started;
    const run_as = clients.account()?.subject ?? null;
    await clients.operate(`create schedule ${name}`, ({ schedules }) =>
      schedules.create({
        name,
        namespace: "default",
        workflow,
        version: null,
        description: null,
        spec: { type: "interval", every_seconds: 5 },
        overlap: "skip",
        catch_up: "one",
        input: this.#input(`schedule ${target}`, started),
        routing_input: where?.hidden ?? {},
        run_as,
      }),
    );
    if (this.#isEnding) await this.#pause(name);
  }

  #input(purpose: string, { where, isCalled }: Started): Json {
    const { random, plan } = this.#parts;
    const draws = random.fork(purpose);
    const drawn = randomProgram({
      random: () => draws.next(),
      depth: 3,
      children: 1,
      longestMs: 20_000,
      tasks: [...TASKS, "secretive"],
    });
    const isLong = plan.accounts > 0 && draws.chance(0.6);
    const parts = [...Array.from({ length: LABOURS }, () => LABOUR), drawn];
    const whole: Program = isLong ? { kind: "sequence", parts } : drawn;
    const program: Program = isCalled ? { kind: "child", part: whole } : whole;
    return {
      program,
      path: ROOT_PATH,
      ...(where && { where }),
    } satisfies ProgramInput as unknown as Json;
  }
}
