/**
 * What one simulated run leaves for those who judge it: everything a user, a worker, the store or a
 * reader saw, in the order in which it happened. The harness writes it, the invariants only read.
 *
 * Two kinds of time stand in it. An `at` is true virtual time, the same for everybody; a `clock` is
 * what the clock of that process said then, which may be wrong. All are milliseconds since 1970.
 */
import type { Event, ExecutionRow, Json, ScheduleRow, WorkerActivity } from "@engine/contract";
import type {
  FullDelivery,
  HeldAttributes,
  HookRow,
  LimitRow,
  ServiceRow,
  SessionRow,
} from "@engine/store";
import type { Told } from "./programs/program.ts";
import type { WorkerSeen } from "./programs/wants.ts";

export interface Evidence {
  readonly seed: number;
  readonly began_at: number;
  /** From when on everything was up and nothing was broken any more. */
  readonly calm_at: number;
  readonly ended_at: number;
  /** Why the run was given up before everything was at rest; null: it came to rest. */
  readonly stuck: string | null;
  readonly servers: number;

  /** Every request of a client, in the order in which they were made. */
  readonly requests: readonly ClientRequest[];
  readonly streams: readonly StreamSeen[];
  /** Every execution that the store holds at the end. */
  readonly executions: readonly ExecutionAtRest[];
  /** Texts of values kept outside the logs, by the `reference_id` of their references. */
  readonly stored: Readonly<Record<string, string>>;
  /** Every time that the engine came to rest, in the middle of the run too. */
  readonly rests: readonly RestSeen[];
  /** Ids of executions that nobody was meant to answer: they may wait at rest. */
  readonly abandoned: readonly string[];
  /** What every store port was told to be durable, in the order in which it settled. */
  readonly commits: readonly Commit[];
  readonly writes: readonly WorkerWrite[];
  readonly keeps: readonly CopyKept[];
  readonly bodies: readonly BodyEntry[];
  readonly values: readonly ValueSeen[];
  readonly faults: readonly Fault[];
  /** Every session that was ever opened, as the store holds it at rest. */
  readonly sessions: readonly SessionRow[];
  readonly activities: readonly ActivitySet[];
  /** Every change of a principal, in the order in which they became durable; before, each may run all. */
  readonly principals: readonly PrincipalChange[];
  /** Service accounts; none with authorization off. */
  readonly accounts: readonly { readonly id: string; readonly subject: string }[];
  /** Every change of the service and of the catalog, in the order in which they became durable. */
  readonly offers: readonly OfferChange[];
  /** Every write of metadata and grants of a worker, in the order in which they became durable. */
  readonly descriptions: readonly WorkerDescribed[];
  /** Every write of what operators allow under a name, in the order in which they became durable. */
  readonly limits: readonly LimitDefined[];
  /** Every write of a hook, in the order in which they became durable. */
  readonly hooks: readonly HookWritten[];
  /** What the outbox holds at the end, for every hook that there ever was. */
  readonly deliveries: readonly FullDelivery[];
  /** Hooks that may fire in a chain, as all servers have it. */
  readonly hop_limit: number;
  /** When somebody has last handed dead deliveries back; null: nobody has. */
  readonly handed_back_at: number | null;
  /** Whether servers start what hooks are to start at once, and not only now and then. */
  readonly drains_at_once: boolean;
  /** What was asked of servers that changes either, and when they had done it. */
  readonly offer_deeds: readonly OfferDeed[];
  /** Every time that a server was asked what the service offers, and could say. */
  readonly resolutions: readonly ServiceAsked[];
  /** Assignments that left a server, with authorization on. */
  readonly assignments: readonly AssignmentSent[];
  /** What workers were told of the rights of their executions. */
  readonly rights: readonly RightsHeard[];
  /** Milliseconds that the store takes to answer a question at the most, unless it fails. */
  readonly longest_question: number;
  /** The same of a message, unless something keeps it. */
  readonly longest_message: number;
  /** Schedules at rest. */
  readonly schedules: readonly ScheduleRow[];
  /** What retention deleted. */
  readonly deletions: readonly Deletion[];
  /**
   * Numbers that have to be zero when nothing runs, by a name that says where: loads of sessions,
   * reservations, claims in flight, copies of workers, held starts, open waiters.
   */
  readonly counters: Readonly<Record<string, number>>;
}

/** One request and what came back; a client that repeats itself makes several. */
export interface ClientRequest {
  readonly client: string;
  readonly asked: Asked;
  readonly asked_at: number;
  /** How often it reached a server: the network may lose it, or hand it over twice. */
  readonly deliveries: number;
  /** When the answer reached the client; null: it never did. */
  readonly answered_at: number | null;
  readonly answer: Answered;
}

export type Asked =
  | {
      readonly kind: "start";
      readonly workflow: string;
      readonly input: Json;
      readonly key: string | null;
      /** Asked for with `X-Engine-Require-Worker`. */
      readonly required_worker: string | null;
      readonly mode: "async" | "sync";
    }
  /** `input` is a value that no other resume of the run has, or null. */
  | {
      readonly kind: "resume";
      readonly execution_id: string;
      readonly pause: string;
      readonly input: Json;
    }
  /** `payload` is a value that no other signal of the run has, or null. */
  | {
      readonly kind: "signal";
      readonly execution_id: string;
      readonly name: string;
      readonly payload: Json;
    }
  | { readonly kind: "cancel"; readonly execution_id: string; readonly mode: "async" | "sync" }
  | { readonly kind: "get" | "wait"; readonly execution_id: string }
  | { readonly kind: "events"; readonly execution_id: string; readonly after: number }
  | { readonly kind: "fork"; readonly execution_id: string };

export type Answered =
  /** It was done. `state`, `output` and `failure` as the record of the answer has them, in plain JSON. */
  | {
      readonly kind: "done";
      readonly status: number;
      readonly execution_id: string;
      readonly state: string | null;
      readonly output?: Json;
      readonly failure?: Json;
      /** Of `events`: the numbers of the events in the page. */
      readonly seqs?: readonly number[];
    }
  /** The engine said no, with the code of an EngineError. */
  | { readonly kind: "refused"; readonly status: number; readonly code: string }
  /** No answer, or one of a broken connection or a server that could not tell. */
  | { readonly kind: "unknown" };

/** One connection of a stream's reader; who connects again has several. */
export interface StreamSeen {
  readonly reader: string;
  readonly execution_id: string;
  /** `Last-Event-ID` it was opened with; null: it began with the state of the moment. */
  readonly after: number | null;
  readonly events: "all" | null;
  readonly frames: readonly FrameSeen[];
  /** `server`: the server ended it; `cut`: a fault, or the end of the run; `left`: the reader did. */
  readonly closed: "server" | "cut" | "left";
}

export interface FrameSeen {
  readonly at: number;
  readonly event: string;
  readonly id: number | null;
  readonly data: Json;
}

export interface ExecutionAtRest {
  readonly row: ExecutionRow;
  /** As the code knows it that made it. */
  readonly log: Log;
  /** As it is stored; the same where nothing of it is hidden. */
  readonly stored?: Log | undefined;
}

type Log = readonly { readonly event: Event; readonly recorded_at: number }[];

/** The engine when nothing moved: all was up, and nothing became durable for a while. */
export interface RestSeen {
  readonly at: number;
  /** When the last thing happened. */
  readonly since: number;
  /** Executions that had not ended. */
  readonly rows: readonly ExecutionRow[];
  readonly workers: readonly WorkerSeen[];
}

/**
 * A change of one execution that is durable. The effects of a commit on others follow it as commits
 * of their own with the same `transaction`. Also what a server never heard of, because its answer was
 * lost, is here.
 */
export interface Commit {
  readonly at: number;
  readonly asked_at: number;
  /** By the clock of the server that asked, when it asked. */
  readonly clock: number;
  /** The same clock when it was decided, in the transaction: it may have been set meanwhile. */
  readonly decided_clock: number;
  readonly server: string;
  readonly transaction: number;
  readonly span: Span;
  readonly execution_id: string;
  readonly row: ExecutionRow;
  /** Empty where only the row changed. */
  readonly events: readonly Event[];
}

/** A worker's write as a server answered it, whether or not the answer arrived. */
export type WorkerWrite = {
  readonly at: number;
  readonly session: string;
  readonly execution_id: string;
  readonly generation: number;
  readonly accepted: boolean;
} & (
  | {
      readonly kind: "checkpoint";
      readonly base_seq: number;
      readonly count: number;
      /** Of its events, by which they are known where nobody was told whether they were written. */
      readonly times: readonly string[];
    }
  | { readonly kind: "release" | "progress" }
);

/** A copy that a worker was told to keep when it connected again, under a claim of this generation. */
export interface CopyKept {
  readonly at: number;
  readonly execution_id: string;
  readonly generation: number;
  readonly process: string;
}

/** A function of a task that was entered. */
export interface BodyEntry {
  readonly part: "run" | "rollback" | "fallback";
  readonly execution_id: string;
  readonly task_call_id: string;
  readonly task: string;
  /** Place of the call in its program. */
  readonly path: string;
  readonly attempt: number;
  /** Version of the workflow whose code it was. */
  readonly version: number;
  /** What the code that called it knew; null where a function called it. */
  readonly told: Told | null;
  readonly generation: number;
  readonly worker: string;
  /** One life of the worker: a name of its own for each start of its process. */
  readonly process: string;
  readonly at: number;
  /** What the copy takes for the time: the server's, as its worker knows it. */
  readonly clock: number;
  /** The latest that it has taken for the time: another server's clock may be behind that. */
  readonly latest_clock: number;
  /** Null: it never came to its end, as its process was killed. */
  readonly end: BodyEnd | null;
}

export interface BodyEnd {
  readonly at: number;
  readonly how: "returned" | "threw" | "aborted";
  /** What it returned, encoded, or the message of what it threw. */
  readonly value: Json;
}

/** A value that code of a workflow got from a call, or returned (`path` is `output` then). */
export interface ValueSeen {
  readonly execution_id: string;
  readonly path: string;
  readonly kind: "task" | "pause" | "signal" | "child" | "recorded" | "output";
  readonly generation: number;
  readonly process: string;
  readonly at: number;
  /** Encoded as the log encodes values: equal texts are equal values. */
  readonly value: Json;
}

/** What was broken on purpose. */
export interface Fault {
  readonly kind:
    | "kill_worker"
    | "kill_server"
    | "stall_worker"
    | "stall_server"
    | "drain_worker"
    | "revoke_worker"
    | "partition"
    | "cut"
    | "drop"
    | "duplicate"
    | "delay"
    | "clock_jump"
    | "store_error"
    | "store_unknown";
  readonly at: number;
  /** When it was over; null: it has no length, or lasted to the end. */
  readonly until: number | null;
  /** Null: it concerned everybody. */
  readonly worker: string | null;
  readonly server: string | null;
}

/** What an operator asked of a worker's name; one that was never answered may have been done too. */
export interface ActivitySet {
  readonly asked_at: number;
  /** When it was acknowledged; null: never. */
  readonly at: number | null;
  readonly worker: string;
  readonly desired: WorkerActivity;
}

/** A principal as a change left it, from the moment on in which that was durable. */
export interface PrincipalChange {
  readonly at: number;
  /** Its id. */
  readonly principal: string;
  readonly enabled: boolean;
  readonly banned: boolean;
  /** Whether it has the role that lets it run programs. */
  readonly has_role: boolean;
}

/**
 * Between which two moments a transaction took place, as the harness counts them: one that settled before
 * another began came before it.
 */
export interface Span {
  readonly began: number;
  readonly settled: number;
}

/** What operators have said of a worker as a write left it, from the moment on in which it was durable. */
export interface WorkerDescribed extends HeldAttributes {
  readonly at: number;
  readonly span: Span;
  readonly worker: string;
}

/** What operators allow under a name as a write left it, from the moment on in which it was durable. */
export interface LimitDefined {
  readonly at: number;
  readonly span: Span;
  readonly name: string;
  /** Null: it was deleted. */
  readonly definition: Pick<LimitRow, "concurrency" | "rate"> | null;
}

/** A hook as a write left it, from the moment on in which it was durable. */
export interface HookWritten {
  readonly at: number;
  readonly span: Span;
  readonly hook_id: string;
  readonly name: string;
  /** Null: it was deleted, with its deliveries. */
  readonly row: HookRow | null;
}

/**
 * The service or a workflow as a change left it, from the moment on in which that was durable. Before
 * any change there is neither.
 */
export type OfferChange = {
  readonly at: number;
  /** The life of the server that made it; null: it was there before any. */
  readonly process: string | null;
} & (
  | {
      readonly kind: "service";
      /** Null: it was deleted. */
      readonly choice: Pick<ServiceRow, "namespaces" | "workflows" | "exclusions"> | null;
    }
  | {
      readonly kind: "workflow";
      readonly namespace: string;
      readonly name: string;
      /** Its latest live version; null: there is none. */
      readonly latest: number | null;
    }
);

/** A change as a server was asked for it. */
export interface OfferDeed {
  readonly process: string;
  readonly began_at: number;
  /** When the server had done it, whether or not its answer arrived; null: it never had. */
  readonly done_at: number | null;
}

/** A request for a workflow of the service, from when it reached a server to what that said. */
export interface ServiceAsked {
  /** The life of the server. */
  readonly process: string;
  readonly began_at: number;
  readonly ended_at: number;
  readonly workflow: string;
  /** Whether it was started then: its version is looked up behind what its name stands for. */
  readonly starts: boolean;
  readonly answer: ServiceAnswer;
}

export type ServiceAnswer =
  | "no_service"
  | "not_offered"
  | "name_collision"
  /** Namespace, name and version of what the name stands for. */
  | `${string}/${string} v${number}`;

/** An assignment as it left a server, whether or not it arrived. */
export interface AssignmentSent {
  readonly at: number;
  readonly server: string;
  readonly worker: string;
  readonly execution_id: string;
  readonly generation: number;
}

/** What a worker was told of an execution's rights, with its assignment or later. */
export interface RightsHeard {
  readonly at: number;
  /** The life of the worker. */
  readonly process: string;
  readonly execution_id: string;
  readonly generation: number;
  /** Nothing is to begin: its principal cannot be used. */
  readonly hold: boolean;
  /** Whether it heard it: in a poll it may have given up by then, and what was answered to that. */
  readonly is_sure: boolean;
}

export interface Deletion {
  readonly at: number;
  readonly execution_id: string;
  /** Executions that ended before it could be deleted. */
  readonly before: number;
}
