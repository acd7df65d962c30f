import {
  type Assignment,
  type CheckpointAnswer,
  type CheckpointItem,
  type EventType,
  formatEventTime,
  type Heartbeat,
  type HeartbeatAnswer,
  type Holding,
  isBuiltInCall,
  type Json,
  type NewEvent,
  type Poll,
  type SessionRef,
  type State,
  type Wait,
  WORKER_PROTOCOL,
  type WorkerConnection,
  type WorkerFrame,
  type WorkerProtocol,
  type WorkerRegistration,
} from "@engine/contract";

type FrameOf<Name extends WorkerFrame["event"]> = Extract<WorkerFrame, { event: Name }>["data"];

/** A worker that does what the test says and remembers every frame. */
export class ScriptedWorker {
  readonly name: string;
  readonly frames: WorkerFrame[] = [];
  ref: SessionRef;
  connection: WorkerConnection | undefined;
  readonly #protocol: WorkerProtocol;
  readonly #clock: () => number;
  #read = 0;
  #wake: (() => void) | undefined;

  constructor(name: string, protocol: WorkerProtocol, clock: () => number) {
    this.name = name;
    this.#protocol = protocol;
    this.#clock = clock;
    this.ref = { worker: name, session: "" };
  }

  async register(changes: Partial<WorkerRegistration> = {}): Promise<void> {
    const { session } = await this.#protocol.register(registration(this.name, changes));
    this.ref = { worker: this.name, session };
  }

  async connect(running: readonly Holding[] = []): Promise<FrameOf<"welcome">> {
    this.#read = this.frames.length;
    this.connection = await this.#protocol.connect(this.ref, running, (frame) => {
      this.frames.push(frame);
      this.#wake?.();
    });
    return this.next("welcome");
  }

  /** What the server answers to a heartbeat that lists these. */
  beat(
    running: readonly Holding[] = [],
    changes: Partial<Heartbeat> = {},
  ): Promise<HeartbeatAnswer> {
    return this.#protocol.heartbeat(this.ref, heartbeat(running, changes));
  }

  /** One poll, to its answer; its frames are heard like those of a stream. */
  async poll(
    running: readonly Holding[] = [],
    { wait_seconds = 30, ...changes }: Partial<Poll> = {},
  ): Promise<readonly WorkerFrame[]> {
    const poll = { ...heartbeat(running, changes), wait_seconds };
    const frames = await this.#protocol.poll(this.ref, poll);
    this.frames.push(...frames);
    this.#wake?.();
    return frames;
  }

  /** The next frame of that name that was not read yet; frames of other names are passed over. */
  async next<Name extends WorkerFrame["event"]>(name: Name): Promise<FrameOf<Name>> {
    while (true) {
      for (let frame = this.frames[this.#read]; frame; frame = this.frames[this.#read]) {
        this.#read++;
        if (frame.event === name) return frame.data as FrameOf<Name>;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Names of the frames so far. */
  get heard(): string[] {
    return this.frames.map(({ event }) => event);
  }

  /** Sends one delta and answers what the server said. */
  async checkpoint(
    { execution_id, generation }: { execution_id: string; generation: number },
    base_seq: number,
    state: State,
    events: readonly NewEvent[],
    waiting?: readonly Wait[],
  ): Promise<CheckpointAnswer> {
    const item: CheckpointItem = {
      execution_id,
      generation,
      base_seq,
      state,
      events: [...events],
      ...(waiting && { waiting: [...waiting] }),
    };
    const [answer] = await this.#protocol.checkpoints(this.ref, [item]);
    if (!answer) throw new Error("no answer");
    return answer;
  }

  /** Starts it, or goes on with it, with what it does first. */
  started(assigned: Assignment, events: readonly NewEvent[] = []): Promise<CheckpointAnswer> {
    return this.checkpoint(assigned, assigned.head, "RUNNING", [this.begin(assigned), ...events]);
  }

  /** Starts it and leaves it parked on what the events open, and on retry delays. */
  parked(
    assigned: Assignment,
    events: readonly NewEvent[],
    waiting: readonly Wait[] = [],
  ): Promise<CheckpointAnswer> {
    const all = [this.begin(assigned), ...events];
    return this.checkpoint(assigned, assigned.head, "RUNNING", all, waiting);
  }

  /** Starts and ends it in one delta. */
  completed(assigned: Assignment, output: Json): Promise<CheckpointAnswer> {
    return this.checkpoint(assigned, assigned.head, "COMPLETED", [
      this.begin(assigned),
      this.event(assigned, "WORKFLOW_COMPLETED", output),
    ]);
  }

  /** Starts it and rests at a pause named `answer`. */
  paused(assigned: Assignment): Promise<CheckpointAnswer> {
    const value = { name: "answer", output: "what?" };
    return this.checkpoint(assigned, assigned.head, "PAUSED", [
      this.event(assigned, "WORKFLOW_STARTED", assigned.input),
      this.pauseEvent("TASK_STARTED", value),
      this.pauseEvent("TASK_PAUSED", value),
      this.event(assigned, "WORKFLOW_PAUSED", value),
    ]);
  }

  event(
    of: { readonly execution_id: string; readonly workflow: string },
    type: EventType,
    value: Json,
  ): NewEvent {
    return {
      type,
      source_id: of.execution_id,
      name: of.workflow,
      kind: null,
      value,
      time: formatEventTime(this.#clock()),
      meta: null,
    };
  }

  /** The first event of a claim: the log has a WORKFLOW_STARTED or it has none. */
  begin(assigned: Assignment): NewEvent {
    const isFirst = !assigned.history.events.some(({ type }) => type === "WORKFLOW_STARTED");
    const type = isFirst ? "WORKFLOW_STARTED" : "WORKFLOW_RESUMED";
    return this.event(assigned, type, isFirst ? assigned.input : null);
  }

  pauseEvent(type: EventType, value: Json): NewEvent {
    return this.callEvent(type, "pause~1", value);
  }

  /** An event of a call; one whose name is a built-in's is of that kind. */
  callEvent(type: EventType, task_call_id: string, value: Json = null): NewEvent {
    const last = task_call_id.slice(task_call_id.lastIndexOf("/") + 1);
    const name = last.slice(0, last.indexOf("~"));
    const kind = isBuiltInCall(name) ? name : null;
    const time = formatEventTime(this.#clock());
    return { type, source_id: task_call_id, name, kind, value, time, meta: null };
  }
}

export function heartbeat(
  running: readonly Holding[] = [],
  changes: Partial<Heartbeat> = {},
): Heartbeat {
  return {
    status: "active",
    healthy: true,
    running: [...running],
    slots_free: 1,
    metrics: {},
    resources: null,
    stuck_threads: 0,
    clock_offset_ms: null,
    ...changes,
  };
}

export function registration(
  name: string,
  changes: Partial<WorkerRegistration> = {},
): WorkerRegistration {
  return {
    name,
    instance_id: "01900000-0000-7000-8000-000000000001",
    protocol: WORKER_PROTOCOL,
    engine_version: "0.1.0",
    host: "here",
    pid: 1,
    runtime: { os: "linux", arch: "x64", node: "24" },
    labels: {},
    slots: 64,
    runners: ["thread"],
    default_runner: "thread",
    resources: null,
    packages: [],
    services: [],
    ...changes,
  };
}
