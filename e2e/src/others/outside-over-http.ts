import type { ExecutionRecord, ExecutionSummary, State, Wait } from "@engine/contract";
import { isTerminal } from "@engine/contract";
import type { Answered, Frame, Outside, StartOptions } from "./outside.ts";
import type { Stage } from "./stage.ts";

/** The outside of one program, at a server. */
export class OutsideOverHttp implements Outside {
  readonly id: string;
  /** Every execution that was started for the program, the first one first. */
  readonly roots: string[];
  readonly #stage: Stage;
  readonly #workflow: string;
  readonly #limitMs: number;

  constructor(of: { id: string; workflow: string; stage: Stage; limitMs: number }) {
    this.id = of.id;
    this.roots = [of.id];
    this.#stage = of.stage;
    this.#workflow = of.workflow;
    this.#limitMs = of.limitMs;
  }

  async signal(name: string, payload: unknown = null): Promise<number> {
    return (await this.ask("POST", `/executions/${this.id}/signals/${name}`, payload)).status;
  }

  async resume(input?: unknown, pause?: string): Promise<number> {
    const query = pause === undefined ? "" : `?pause=${pause}`;
    const path = `/workflows/default/${this.#workflow}/resume/${this.id}/async${query}`;
    return (await this.ask("POST", path, input)).status;
  }

  async cancel(reason?: string): Promise<number> {
    const path = `/workflows/default/${this.#workflow}/cancel/${this.id}`;
    return (await this.ask("POST", path, reason === undefined ? {} : { reason })).status;
  }

  async ask(
    method: "GET" | "POST" | "PUT" | "DELETE",
    path: string,
    body?: unknown,
  ): Promise<Answered> {
    const { url } = this.#stage.engine;
    const headers = body === undefined ? {} : { "content-type": "application/json" };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(url + path, { method, headers, ...sent });
    const text = await response.text();
    return { status: response.status, body: text === "" ? null : JSON.parse(text) };
  }

  async start(workflow: string, input: unknown, options: StartOptions = {}): Promise<string> {
    const { key, version } = options;
    const { http } = this.#stage.engine;
    const query = version === undefined ? "" : `?version=${version}`;
    const headers = key === undefined ? {} : { "idempotency-key": key };
    const path = `/workflows/default/${workflow}/run/async${query}`;
    const { status, body } = await http.post<ExecutionRecord>(path, input ?? null, headers);
    if (status !== 202) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
    this.adopt(body.execution_id);
    return body.execution_id;
  }

  adopt(id: string): void {
    if (!this.roots.includes(id)) this.roots.push(id);
  }

  untilWaits(kind: Wait["kind"], name?: string): Promise<Wait> {
    const isIt = (wait: Wait) => wait.kind === kind && (name === undefined || wait.name === name);
    const what = `it waits for a ${kind}${name === undefined ? "" : ` ${name}`}`;
    return this.#until(what, (open) => open.get(this.id)?.waiting.find(isIt));
  }

  async untilDid(note: string): Promise<void> {
    await this.#until(`it notes "${note}"`, async () => {
      const ids = [...this.roots, ...(await this.children())];
      const notes = ids.flatMap((id) => this.#stage.folder.notesOf(id));
      return notes.find((one) => one.note === note);
    });
  }

  async untilBegun(task: string, count = 1): Promise<void> {
    await this.until(`${count} ${task} have begun`, async () => {
      const ids = [...this.roots, ...(await this.children())];
      const logs = await Promise.all(ids.map((id) => this.#stage.engine.http.log(id)));
      const begun = logs
        .flat()
        .filter(({ type, name }) => type === "TASK_STARTED" && name === task);
      return begun.length >= count;
    });
  }

  async until(what: string, holds: () => Promise<boolean>): Promise<void> {
    await this.#until(what, async () => ((await holds()) ? true : undefined));
  }

  async untilState(state: State): Promise<void> {
    const isSo = async () => (await this.#stage.engine.http.execution(this.id)).state === state;
    await this.until(`it is ${state}`, isSo);
  }

  async untilEnded(id: string = this.id): Promise<unknown> {
    const record = await this.#until(`${id} has ended`, async (open) => {
      if (open.has(id)) return undefined;
      const found = await this.#stage.engine.http.execution(id).catch(() => undefined);
      return found !== undefined && isTerminal(found.state) ? found : undefined;
    });
    return record.output;
  }

  async untilInstant(at: number): Promise<void> {
    while (Date.now() < at) await new Promise((resolve) => setTimeout(resolve, at - Date.now()));
  }

  async follow(begun: () => unknown): Promise<readonly Frame[]> {
    const frames: Frame[] = [];
    for await (const frame of this.#stage.engine.http.follow(this.id)) {
      if (frames.push(frame) === 1) await begun();
    }
    return frames;
  }

  async children(): Promise<readonly string[]> {
    const path = `/executions?parent_id=${this.id}&order=created_asc&limit=200`;
    const { body } = await this.#stage.engine.http.get<{ items: ExecutionSummary[] }>(path);
    return body.items.map(({ execution_id }) => execution_id);
  }

  #until<Found>(
    what: string,
    find: (
      open: ReadonlyMap<string, ExecutionSummary>,
    ) => Found | undefined | Promise<Found | undefined>,
  ): Promise<Found> {
    return this.#stage.watch.until(what, find, this.#limitMs);
  }
}
