import {
  EngineError,
  type ExecutionRow,
  isTerminal,
  type Json,
  type RoutingInput,
} from "@engine/contract";
import { type Engine, toRecord } from "@engine/server";
import type { Store } from "@engine/store";
import { type Account, oftenFirst } from "./accounts.ts";
import type { Answered, Asked, ClientRequest } from "./evidence.ts";
import { copied, type Network } from "./network.ts";
import { Process } from "./process.ts";
import type { Random } from "./random.ts";
import type { Servers } from "./servers.ts";
import type { World } from "./world.ts";

const TIMEOUT_MS = 30_000;
/** A server answers a sync call of these at the latest with the state as it is. */
const SYNC_MS = 20_000;

export interface ClientsParts {
  readonly world: World;
  readonly random: Random;
  readonly network: Network;
  readonly servers: Servers;
  /** For whom clients ask; nobody with authorization off. */
  readonly accounts: readonly Account[];
}

interface StartOptions {
  readonly hasKey: boolean;
  readonly routing_input?: RoutingInput | undefined;
  readonly required_worker?: string | undefined;
}

/** What a server does for a request, with its store. */
type Act<Answer> = (engine: Engine, store: Store) => Promise<Answer>;

type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] };
type Done = Omit<Extract<Answered, { kind: "done" }>, "kind">;

/** People who use the engine, through the same bad network as everybody. */
export class Clients {
  readonly requests: Mutable<ClientRequest>[] = [];
  /** Executions that a client has been told of. */
  readonly known: string[] = [];
  /** Requests that are not over. */
  open = 0;
  readonly #parts: ClientsParts;
  readonly #random: Random;
  /** Which account asks. */
  readonly #asking: Random;
  readonly #processes: readonly Process[];
  #values = 0;

  constructor(parts: ClientsParts) {
    this.#parts = parts;
    this.#random = parts.random;
    this.#asking = parts.random.fork("accounts");
    const { world } = parts;
    this.#processes = ["c1", "c2", "c3"].map((name) => {
      // Nobody asks what time it is for them.
      return new Process(world, { name, id: name, random: this.#random.fork(name), pace: 0 });
    });
  }

  get processes(): readonly Process[] {
    return this.#processes;
  }

  /** A value that no other request sends. */
  fresh(): Json {
    this.#values++;
    return this.#random.chance(0.15) ? null : { value: this.#values };
  }

  /** One start, repeated under its key until it is answered. */
  async start(
    workflow: string,
    input: Json,
    { hasKey, routing_input, required_worker }: StartOptions,
  ): Promise<void> {
    const key = hasKey ? `key-${++this.#values}` : null;
    const mode = this.#random.chance(0.3) ? "sync" : "async";
    const of = { workflow, input, key, required_worker: required_worker ?? null, mode } as const;
    const asked: Asked = { kind: "start", ...of };
    const client = this.#random.pick(this.#processes);
    // A key is one of its caller.
    const by = this.account()?.id ?? null;
    for (;;) {
      const answer = await this.#ask(client, asked, async ({ executions }) => {
        const request = {
          namespace: "default",
          workflow,
          input,
          trigger: { kind: "api" as const },
          by,
          ...(routing_input && { routing_input }),
          required_worker,
          ...(key !== null && { idempotency_key: key }),
        };
        if (mode === "async") {
          const { row } = await executions.start(request);
          return done(202, row);
        }
        return settled((await executions.startAndWait(request, { timeoutMs: SYNC_MS })).row);
      });
      if (answer.kind === "done") this.know(answer.execution_id);
      if (key === null) return;
      // Some ask again although they were answered: they get the same.
      if (answer.kind !== "unknown" && !this.#random.chance(0.15)) return;
      await this.#pause(client);
    }
  }

  async get(execution_id: string): Promise<void> {
    await this.#ask(this.#anybody(), { kind: "get", execution_id }, async ({ executions }) =>
      done(200, await executions.get(execution_id)),
    );
  }

  async wait(execution_id: string): Promise<void> {
    await this.#ask(this.#anybody(), { kind: "wait", execution_id }, async ({ executions }) =>
      settled(await executions.wait(execution_id, { timeoutMs: SYNC_MS })),
    );
  }

  /** Reads the log page by page, as long as it gets answers. */
  async events(execution_id: string): Promise<void> {
    const client = this.#anybody();
    for (let after = 0, pages = 0; pages < 5; pages++) {
      const limit = 1 + this.#random.below(8);
      const asked: Asked = { kind: "events", execution_id, after };
      const answer = await this.#ask(client, asked, async ({ executions }) => {
        const log = await executions.log(execution_id, { after, limit });
        const seqs = log.map(({ event }) => event.seq);
        return { status: 200, execution_id, state: null, seqs };
      });
      const last = answer.kind === "done" ? answer.seqs?.at(-1) : undefined;
      if (last === undefined) return;
      after = last;
    }
  }

  async cancel(execution_id: string): Promise<void> {
    const client = this.#anybody();
    const mode = this.#random.chance(0.3) ? "sync" : "async";
    const by = this.account()?.id ?? null;
    for (;;) {
      const answer = await this.#ask(
        client,
        { kind: "cancel", execution_id, mode },
        async ({ executions }) => {
          const request = { execution_id, by };
          if (mode === "async") return done(202, (await executions.cancel(request)).row);
          return settled((await executions.cancelAndWait(request, { timeoutMs: SYNC_MS })).row);
        },
      );
      if (answer.kind !== "unknown") return;
      await this.#pause(client);
    }
  }

  async resume(execution_id: string, pause: string): Promise<void> {
    const input = this.fresh();
    const by = this.account()?.id ?? null;
    await this.#ask(
      this.#anybody(),
      { kind: "resume", execution_id, pause, input },
      async ({ executions }) => {
        const { row } = await executions.resume({ execution_id, by, input, pause });
        return done(202, row);
      },
    );
  }

  async signal(execution_id: string, name: string): Promise<void> {
    const payload = this.fresh();
    const by = this.account()?.id ?? null;
    await this.#ask(
      this.#anybody(),
      { kind: "signal", execution_id, name, payload },
      async ({ executions }) => {
        const seq = await executions.signal({ execution_id, name, payload, by });
        return { status: 202, execution_id, state: null, seqs: [seq] };
      },
    );
  }

  async fork(execution_id: string, drawn: number): Promise<void> {
    const by = this.account()?.id ?? null;
    await this.#ask(this.#anybody(), { kind: "fork", execution_id }, async ({ executions }) => {
      const { head } = await executions.get(execution_id);
      const from_seq = drawn < 0.3 ? undefined : 1 + Math.floor(drawn * head);
      const { row } = await executions.fork({ execution_id, by, from_seq });
      return done(201, row);
    });
  }

  /** Any of those that ask; undefined with authorization off. */
  account(): Account | undefined {
    return oftenFirst(this.#parts.accounts, this.#asking.next());
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#anybody().after(ms, resolve));
  }

  /** Something of which no evidence is kept: what an operator does. Tried until it is answered. */
  async operate(what: string, act: Act<unknown>): Promise<boolean> {
    const client = this.#anybody();
    for (let tries = 0; tries < 20; tries++) {
      try {
        await this.#call(client, what, act, () => {});
        return true;
      } catch (error) {
        if (error instanceof EngineError && error.code !== "unavailable") return false;
      }
      await this.#pause(client);
    }
    return false;
  }

  /** From now on somebody may ask for it. */
  know(execution_id: string): void {
    if (!this.known.includes(execution_id)) this.known.push(execution_id);
  }

  #anybody(): Process {
    return this.#random.pick(this.#processes);
  }

  async #ask(
    client: Process,
    asked: Asked,
    act: (engine: Engine) => Promise<Done>,
  ): Promise<Answered> {
    const { world } = this.#parts;
    const request: Mutable<ClientRequest> = {
      client: client.name,
      asked,
      asked_at: world.now,
      deliveries: 0,
      answered_at: null,
      answer: { kind: "unknown" },
    };
    this.requests.push(request);
    const what = this.#shown(asked);
    world.trace.say(client.name, () => `asks: ${what}`);
    this.open++;
    try {
      const value = await this.#call(client, what, act, () => request.deliveries++);
      request.answer = { kind: "done", ...copied(value) };
    } catch (error) {
      if (error instanceof EngineError && error.code !== "unavailable" && error.status < 500) {
        request.answer = { kind: "refused", status: error.status, code: error.code };
      }
    } finally {
      this.open--;
    }
    if (request.answer.kind !== "unknown") request.answered_at = world.now;
    const { answer } = request;
    const outcome = answer.kind === "refused" ? answer.code : answer.kind;
    const state = answer.kind === "done" ? `, ${answer.state ?? ""}` : "";
    world.trace.say(client.name, () => `is answered: ${outcome}${state} (${what})`);
    return answer;
  }

  #call<Answer>(
    client: Process,
    what: string,
    act: Act<Answer>,
    onDelivery: () => void,
  ): Promise<Answer> {
    const { network, servers } = this.#parts;
    const at = this.#random.below(servers.count);
    return network.call({
      from: client,
      to: `s${at + 1}`,
      what: () => what,
      timeoutMs: TIMEOUT_MS,
      mayRepeat: false,
      serve: () => {
        onDelivery();
        return act(servers.engine(at), servers.store(at));
      },
    });
  }

  #pause(client: Process): Promise<void> {
    const ms = this.#random.between(100, 3_000);
    return new Promise((resolve) => void client.after(ms, resolve));
  }

  #shown(asked: Asked): string {
    const { trace } = this.#parts.world;
    if (asked.kind === "start")
      return `start ${asked.workflow}${asked.key ? ` under ${asked.key}` : ""}, ${asked.mode}`;
    return `${asked.kind} ${trace.isKept ? trace.name(asked.execution_id) : ""}`;
  }
}

function done(status: number, row: ExecutionRow): Done {
  const { execution_id, state } = row;
  if (!isTerminal(state)) return { status, execution_id, state };
  const { output, error } = toRecord(row, () => null) as { output: Json; error?: Json };
  return { status, execution_id, state, output, ...(error !== undefined && { failure: error }) };
}

/** As a sync call answers it: 202 with an execution that goes on. */
function settled(row: ExecutionRow): Done {
  return done(isTerminal(row.state) || row.state === "PAUSED" ? 200 : 202, row);
}
