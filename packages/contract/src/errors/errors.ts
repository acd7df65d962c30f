import * as z from "zod";

interface ErrorRow {
  /** The HTTP status this code travels under; null for codes that are only thrown in process. */
  readonly status: number | null;
  /** One sentence for `docs/errors.md`: when it happens and what to do. */
  readonly meaning: string;
}

/** Every failure an engine process can answer with. `docs/errors.md` is printed from this table. */
export const ERRORS = {
  bad_request: {
    status: 400,
    meaning: "The request cannot be read: broken JSON, an unknown mode, a header that is not text.",
  },
  host_not_allowed: {
    status: 400,
    meaning:
      "The server is addressed by a name that it does not go by; `[engine.server] allowed_hosts` lists names besides localhost and addresses.",
  },
  permission_denied: {
    status: 403,
    meaning: "The caller lacks a permission; `details.missing_permissions` lists it.",
  },
  origin_denied: {
    status: 403,
    meaning:
      "A browser asks for a page of another site; `[engine.server] cors_allow_origins` lists the origins that may.",
  },
  not_found: {
    status: 404,
    meaning:
      "Nothing by that name or id; `details.resource` says which kind of thing was looked for.",
  },
  method_not_allowed: {
    status: 405,
    meaning: "The path exists, the method does not; the `Allow` header lists those that do.",
  },
  request_timeout: {
    status: 408,
    meaning: "The request did not come on; send it again, without pauses.",
  },
  conflict: {
    status: 409,
    meaning: "The request contradicts what is there; the message says what.",
  },
  execution_finished: {
    status: 409,
    meaning: "The execution has ended (`details.state`) and can no longer be changed.",
  },
  not_paused: {
    status: 409,
    meaning: "No open pause matches; `details.state` is the execution's state. Read its `waiting`.",
  },
  ambiguous_pause: {
    status: 409,
    meaning: "Several pauses are open and none was named; pass `pause`, see `details.pauses`.",
  },
  local_execution: {
    status: 409,
    meaning: "The execution belongs to a local run; continue it in the process that runs it.",
  },
  stored_externally: {
    status: 409,
    meaning:
      "The value lies in a storage of the workflow's own; `details.reference` says where to look.",
  },
  workflow_cancelled: {
    status: 409,
    meaning: "The execution was cancelled; the record's `error.details` says by what and why.",
  },
  stale_claim: {
    status: 409,
    meaning: "The worker no longer owns this execution; it drops its copy and does not retry.",
  },
  seq_conflict: {
    status: 409,
    meaning: "The log has grown; `details.events` holds what the sender did not know of.",
  },
  seq_gap: { status: 409, meaning: "The log ends before `base_seq`; `details.head` is its end." },
  session_unknown: { status: 409, meaning: "No such worker session: the worker registers again." },
  session_superseded: {
    status: 409,
    meaning: "Another process took over this worker's name; this one stops.",
  },
  incompatible_worker: {
    status: 409,
    meaning: "The worker speaks a protocol this server does not; see `details.supported`.",
  },
  labels_immutable: {
    status: 409,
    meaning: "A worker's labels cannot change while it runs; restart it.",
  },
  too_many_signals: {
    status: 409,
    meaning:
      "The execution keeps as many signals as it may, or its log is full; `details` has the limits. Send it again once some were taken.",
  },
  worker_name_in_use: {
    status: 409,
    meaning: "Several processes fight over this worker name; give each one its own.",
  },
  worker_connected: {
    status: 409,
    meaning: "The worker is connected; stop or drain it before its name is removed.",
  },
  worker_offline: { status: 409, meaning: "The worker is not connected, so it cannot drain." },
  schedule_exists: { status: 409, meaning: "Another schedule has this name; choose another." },
  schedule_is_declared: {
    status: 409,
    meaning:
      "A workflow declares the schedule: change its `schedule` option and register it. Pause, resume and trigger are open.",
  },
  payload_too_large: { status: 413, meaning: "The body exceeds `details.limit_bytes`." },
  uri_too_long: { status: 414, meaning: "The path is longer than 2 KiB." },
  unsupported_media_type: { status: 415, meaning: "Send `Content-Type: application/json`." },
  invalid_input: {
    status: 422,
    meaning: "A field is missing or wrong; `details.issues` names each by path, with the rule.",
  },
  invalid_schedule: {
    status: 422,
    meaning:
      "The schedule can never fire as it is written; `details.issues` names each field by path.",
  },
  reserved_label: { status: 422, meaning: "Label keys beginning `engine.` belong to the engine." },
  idempotency_mismatch: {
    status: 422,
    meaning:
      "The idempotency key belongs to a start with another input or version, `details.execution_id`.",
  },
  unknown_worker: { status: 422, meaning: "No worker has ever registered under this name." },
  headers_too_large: { status: 431, meaning: "The request headers exceed 16 KiB." },
  internal: {
    status: 500,
    meaning: "A defect of the engine; the server's log has it under `details.request_id`.",
  },
  workflow_failed: { status: 500, meaning: "The workflow failed; the record's `error` tells how." },
  unavailable: {
    status: 503,
    meaning:
      "The server or its database is away, or has no room for another large body; try again, after `Retry-After` seconds where the answer has that.",
  },
  invalid_definition: {
    status: null,
    meaning: "An option of `workflow()` or `task()` is unknown, of the wrong type or out of range.",
  },
  no_execution: {
    status: null,
    meaning:
      "A call was made outside a workflow, or in a function beside one: a schema, `retryIf`, `cache.key`, a storage. Make it in a body or in a task's function; outside call `task.fn` directly.",
  },
  no_local_host: {
    status: null,
    meaning: '`workflow.run` needs `import "@engine/local"` once in the program.',
  },
} as const satisfies Record<string, ErrorRow>;

/** A code of the table; stable, where messages may change. */
export type ErrorCode = keyof typeof ERRORS;

/** The body of every error answer (NET-7). */
export const ErrorBody = z.object({
  error: z.object({
    code: z.enum(Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]]),
    message: z.string(),
    details: z.record(z.string(), z.unknown()).optional(),
  }),
});
export type ErrorBody = z.infer<typeof ErrorBody>;

const brand = Symbol.for("engine.error");

/**
 * An expected failure at a boundary. The server throws it, the wire carries it as {@link ErrorBody},
 * the client throws it again. `instanceof` also holds between two copies of this package.
 */
export class EngineError extends Error {
  override readonly name = "EngineError";
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options: { details?: Readonly<Record<string, unknown>>; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details;
    Object.defineProperty(this, brand, { value: true });
  }

  static from({ error }: ErrorBody): EngineError {
    return new EngineError(error.code, error.message, error.details && { details: error.details });
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === "object" && value !== null && brand in value;
  }

  /** 500 for a code that should never have reached the wire. */
  get status(): number {
    return ERRORS[this.code].status ?? 500;
  }

  toBody(): ErrorBody {
    const { code, message, details } = this;
    return { error: { code, message, ...(details && { details: { ...details } }) } };
  }
}

/** The 404 of every lookup: names the kind of thing and the thing. */
export function notFound(resource: string, name: string): EngineError {
  return new EngineError("not_found", `no ${resource} ${name}`, { details: { resource } });
}
