import type { ExecutionRecord, ExecutionSummary, Wait } from "@engine/contract";
import { Random } from "@engine/simulation/random";
import type { Http } from "../harness/http.ts";
import { Family } from "./family.ts";
import { liveExecutions } from "./live-executions.ts";
import type { Act, ProgramPlan } from "./program-plan.ts";

const EVERY_MS = 30;
/** A program that nothing hinders takes a few seconds; with kills, whose delays grow, some more. */
const LIMIT_MS = 45_000;
const LIMIT_KILLED_MS = 90_000;
/** Nothing that a program does by itself takes so long, except a wait that says until when. */
const STILL_MS = 8_000;
const LEFT_ALONE_MS = 2_500;
/** A server that is up may be busy. */
const SILENT_MS = 20_000;
/** What was answered and asks again, so long after. */
const AGAIN_MS = 2_000;

interface Running {
  readonly family: Family;
  readonly random: Random;
  readonly ended: PromiseWithResolvers<Family>;
}

/** Starts programs, does to them what their plans say, and answers what they wait for. */
export class Operator implements Disposable {
  readonly #http: Http;
  readonly #running = new Set<Running>();
  readonly #byExecution = new Map<string, Running>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #isOver = false;
  #payloads = 0;

  constructor(http: Http) {
    this.#http = http;
    void this.#look();
  }

  /** Resolves when all of the program has ended, or will not. @param trace The file that its tasks write to. */
  async run(plan: ProgramPlan, trace: string): Promise<Family> {
    const path = `/workflows/default/${plan.workflow}/run/async?name=program-${plan.n}`;
    const { status, body } = await this.#http.post<ExecutionRecord>(path, { ...plan.input, trace });
    if (status !== 202) throw new Error(`program ${plan.n} was refused: ${JSON.stringify(body)}`);
    const family = new Family(plan, body.execution_id);
    const random = new Random(`operator ${plan.n}`);
    const running = { family, random, ended: Promise.withResolvers<Family>() };
    this.#running.add(running);
    this.#byExecution.set(body.execution_id, running);
    for (const act of plan.acts) {
      this.#later(running, act.at_ms, () => this.#do(act, running, body.execution_id));
    }
    return running.ended.promise;
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    for (const timer of this.#timers) clearTimeout(timer);
  }

  async #look(): Promise<void> {
    let answered = Date.now();
    while (!this.#isOver) {
      try {
        const running = [...this.#running];
        if (running.length > 0) this.#sort(running, await liveExecutions(this.#http));
        answered = Date.now();
      } catch (error) {
        if (Date.now() > answered + SILENT_MS) this.#giveUp(`the server does not answer: ${error}`);
      }
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
  }

  #giveUp(why: string): void {
    for (const one of [...this.#running]) {
      one.family.stuck = why;
      this.#end(one);
    }
  }

  #sort(running: readonly Running[], live: readonly ExecutionSummary[]): void {
    const alive = Map.groupBy(live, (row) => this.#familyOf(row));
    for (const one of running) {
      const rows = alive.get(one) ?? [];
      if (rows.length > 0) this.#attend(one, rows);
      else if (one.family.underWay === 0 && ++one.family.quiet >= 2) this.#end(one);
    }
  }

  #familyOf({ execution_id, parent_id, forked_from }: ExecutionSummary): Running | undefined {
    const known =
      this.#byExecution.get(execution_id) ??
      this.#byExecution.get(parent_id ?? "") ??
      this.#byExecution.get(forked_from?.execution_id ?? "");
    if (known && !known.family.members.has(execution_id)) {
      known.family.members.add(execution_id);
      this.#byExecution.set(execution_id, known);
    }
    return known;
  }

  #attend(one: Running, rows: readonly ExecutionSummary[]): void {
    const { family } = one;
    const { setup, isLeftAlone } = family.plan;
    family.quiet = 0;
    const age = Date.now() - family.began;
    const limit = setup.isKilled ? LIMIT_KILLED_MS : LIMIT_MS;
    const still = family.stillFor(rows);
    if (isLeftAlone && family.looks.length === 0) {
      if (still < LEFT_ALONE_MS && age < limit / 2) return;
      for (const row of rows) if (still >= LEFT_ALONE_MS) family.looks.push(lookAt(row));
    }
    for (const row of rows) {
      for (const wait of row.waiting) this.#answer(one, row, wait);
    }
    if (age > limit || (still > STILL_MS && isStuck(family, rows))) {
      const why = age > limit ? `after ${age} ms` : `nothing for ${still} ms`;
      family.stuck = `${why}: ${rows.map(told).join("; ")}`;
      this.#end(one);
      for (const { execution_id, workflow } of rows) void this.#cancel(execution_id, workflow);
    }
  }

  #answer(one: Running, { execution_id, workflow }: ExecutionSummary, wait: Wait): void {
    if (wait.kind !== "pause" && wait.kind !== "signal") return;
    const { family, random } = one;
    const key = `${execution_id} ${wait.task_call_id}`;
    const asked = family.answers.get(key);
    if (asked && (Date.now() < asked.at + AGAIN_MS || asked.times > 4)) return;
    const within = asked || random.chance(0.3) ? 0 : family.plan.answeredWithin_ms;
    const delay = Math.round(random.next() * within);
    family.answers.set(key, { at: Date.now() + delay, times: (asked?.times ?? 0) + 1 });
    // What ends by itself is left to do so by some.
    if (wait.until !== undefined && random.chance(0.5)) return;
    this.#later(one, delay, async () => {
      if (wait.kind === "signal") return void (await this.#signal(execution_id, wait.name));
      const pause = encodeURIComponent(wait.task_call_id);
      const path = `/workflows/default/${workflow}/resume/${execution_id}/async?pause=${pause}`;
      await this.#http.post(path, this.#payload());
    });
  }

  async #do(act: Act, { family }: Running, execution_id: string): Promise<void> {
    switch (act.kind) {
      case "cancel": {
        const status = await this.#cancel(execution_id, family.plan.workflow);
        if (status === 202) family.cancels.push({ execution_id, at: Date.now() });
        return;
      }
      case "rename":
        await this.#http.put(`/executions/${execution_id}/name`, { name: `renamed-${Date.now()}` });
        return;
      case "signal":
        await this.#signal(execution_id, act.name);
        return;
      case "fork": {
        const { body } = await this.#http.get<{ items: unknown[] }>(
          `/executions/${execution_id}/events?limit=1000`,
        );
        const from_seq = Math.max(1, Math.round(act.part * (body.items.length - 1)));
        const forked = await this.#http.post<ExecutionRecord>(`/executions/${execution_id}/fork`, {
          from_seq,
        });
        const running = this.#byExecution.get(execution_id);
        if (forked.status !== 201 || !running) return;
        family.members.add(forked.body.execution_id);
        this.#byExecution.set(forked.body.execution_id, running);
        family.quiet = 0;
      }
    }
  }

  async #cancel(execution_id: string, workflow: string): Promise<number> {
    const path = `/workflows/default/${workflow}/cancel/${execution_id}`;
    return (await this.#http.post(path, null)).status;
  }

  async #signal(execution_id: string, name: string): Promise<number> {
    const path = `/executions/${execution_id}/signals/${name}`;
    return (await this.#http.post(path, this.#payload())).status;
  }

  /** One that nobody else sends, with something in it to be changed. */
  #payload(): unknown {
    this.#payloads++;
    return this.#payloads % 7 === 0 ? null : { number: this.#payloads, list: [this.#payloads] };
  }

  #later({ family }: Running, ms: number, act: () => Promise<void>): void {
    family.underWay++;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      act()
        .catch(() => {})
        .finally(() => {
          family.underWay--;
        });
    }, ms);
    this.#timers.add(timer);
  }

  #end(one: Running): void {
    this.#running.delete(one);
    for (const id of one.family.members) this.#byExecution.delete(id);
    one.ended.resolve(one.family);
  }
}

/** Nothing is due, and everything that could be answered was; how long a cancel takes is judged later. */
function isStuck(family: Family, rows: readonly ExecutionSummary[]): boolean {
  if (family.plan.setup.isKilled || family.underWay > 0) return false;
  if (rows.some(({ state }) => state === "CANCELLING")) return false;
  const isDue = rows.some(({ waiting }) => waiting.some(({ until }) => until !== undefined));
  const answers = [...family.answers.values()];
  return !isDue && answers.every(({ at }) => at + AGAIN_MS < Date.now());
}

function lookAt({ execution_id, state, waiting }: ExecutionSummary): Family["looks"][number] {
  return { execution_id, at: Date.now(), state, waiting: waiting.map(({ kind }) => kind) };
}

function told({ execution_id, state, worker, waiting }: ExecutionSummary): string {
  const waits = waiting.map(({ kind, task_call_id }) => `${kind} ${task_call_id}`).join(", ");
  return `${execution_id} ${state} of ${worker}, waits for ${waits || "nothing"}`;
}
