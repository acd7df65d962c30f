import * as z from "zod";

interface ErrorRow {
  /** The HTTP status this code travels under; null for codes that are only thrown in process. */
  readonly status: number | null;
  /** One sentence for `docs/errors.md`: when it happens and what to do. */
  readonly meaning: string;
}

/** The codes of one status, each with its meaning. */
function under<Code extends string>(
  status: number | null,
  meanings: Readonly<Record<Code, string>>,
): Readonly<Record<Code, ErrorRow>> {
  const rows = Object.entries<string>(meanings).map(([code, meaning]) => [
    code,
    { status, meaning },
  ]);
  return Object.fromEntries(rows);
}

/** Every failure an engine process can answer with. `docs/errors.md` is printed from this table. */
export const ERRORS = {
  ...under(400, {
    bad_request:
      "The request cannot be read: broken JSON, an unknown mode, a header that is not text.",
    host_not_allowed:
      "The server is addressed by a name that it does not go by; `[engine.server] allowed_hosts` lists names besides localhost and addresses.",
    invalid_routing_input:
      "The routing input is none; `details.reason` says what is wrong, without its values. Send one JSON object of text, numbers, booleans, null and objects of these.",
    invalid_selector:
      "The selector can never fire; `details.reason` and `details.hint` say why, `details.index` which of the list it is.",
    principal_not_found: "No service account has this subject.",
    principal_not_service_account:
      "Executions run unattended as service accounts only; name one of those.",
    principal_banned: "The service account is banned; unban and enable it, or name another.",
    principal_disabled: "The service account is disabled; enable it, or name another.",
  }),
  ...under(401, {
    unauthenticated:
      "No credential came, or none that counts; `details.reason` says why. Send `Authorization: Bearer <token>`.",
  }),
  ...under(403, {
    permission_denied:
      "The caller lacks a permission; `details.missing_permissions` lists it. With `details.reason` no grant would help: another kind of credential is needed.",
    principal_not_permitted:
      "The service account `details.principal` lacks what running the workflow takes; `details.missing_permissions` lists it.",
    privilege_escalation:
      "Nobody confers more than they hold; `details.missing_permissions` lists what the caller lacks.",
    origin_denied:
      "A browser asks for a page of another site; `[engine.server] cors_allow_origins` lists the origins that may.",
  }),
  ...under(404, {
    not_found:
      "Nothing by that name or id; `details.resource` says which kind of thing was looked for.",
    target_not_found:
      "No workflow `details.workflow` is registered, which the hook is to run; register it first.",
    mcp_disabled: "The service offers no MCP; set its `mcp_enabled`.",
  }),
  ...under(405, {
    method_not_allowed:
      "The path exists, the method does not; the `Allow` header lists those that do.",
  }),
  ...under(408, {
    request_timeout: "The request did not come on; send it again, without pauses.",
  }),
  ...under(409, {
    conflict: "The request contradicts what is there; the message says what.",
    execution_finished: "The execution has ended (`details.state`) and can no longer be changed.",
    not_paused:
      "No open pause matches; `details.state` is the execution's state. Read its `waiting`.",
    ambiguous_pause:
      "Several pauses are open and none was named; pass `pause`, see `details.pauses`.",
    local_execution:
      "The execution belongs to a local run; continue it in the process that runs it.",
    stored_externally:
      "The value lies in a storage of the workflow's own; `details.reference` says where to look.",
    workflow_cancelled:
      "The execution was cancelled; the record's `error.details` says by what and why.",
    stale_claim: "The worker no longer owns this execution; it drops its copy and does not retry.",
    seq_conflict: "The log has grown; `details.events` holds what the sender did not know of.",
    seq_gap: "The log ends before `base_seq`; `details.head` is its end.",
    session_unknown: "No such worker session: the worker registers again.",
    session_superseded: "Another process took over this worker's name; this one stops.",
    incompatible_worker:
      "The worker speaks a protocol this server does not; see `details.supported`.",
    labels_immutable: "A worker's labels cannot change while it runs; restart it.",
    too_many_signals:
      "The execution keeps as many signals as it may, or its log is full; `details` has the limits. Send it again once some were taken.",
    worker_name_in_use: "Several processes fight over this worker name; give each one its own.",
    worker_connected: "The worker is connected; stop or drain it before its name is removed.",
    worker_offline: "The worker is not connected, so it cannot drain.",
    service_exists: "Another service has this name; choose another.",
    name_collision:
      "Workflows of several namespaces have this name (`details.refs`); exclude all but one from the service.",
    schedule_exists: "Another schedule has this name; choose another.",
    schedule_is_declared:
      "A workflow declares the schedule: change its `schedule` option and register it. Pause, resume and trigger are open.",
    hook_exists:
      "Another hook has this name (`details.owner_type` and `details.owner_ref` say whose it is); choose another.",
    hook_is_declared:
      "A workflow or an agent declares the hook (`details.owner_ref`): change it there. Enable, disable, test and retries are open.",
    delivery_not_dead:
      "Only a delivery that was given up is tried anew; `details.status` is what this one is.",
    last_admin:
      "Without this principal, role or key nobody could administer the engine; make another admin first.",
    built_in_role: "The engine's own roles do not change; clone one under another name.",
    role_in_use:
      "`details.principals` principals have the role; revoke it there, or pass `force=true`.",
    principal_in_use:
      "The principal has keys or work (`details` counts them); end that, or pass `force=true`.",
    ambiguous_subject:
      "Several principals have this subject; pass `issuer`, one of `details.issuers`.",
    worker_name_unavailable: "This credential cannot register this worker name; choose another.",
    provider_disabled: "API keys are turned off by `[engine.security.auth.api_keys] enabled`.",
  }),
  ...under(413, { payload_too_large: "The body exceeds `details.limit_bytes`." }),
  ...under(414, { uri_too_long: "The path is longer than 2 KiB." }),
  ...under(415, { unsupported_media_type: "Send `Content-Type: application/json`." }),
  ...under(422, {
    invalid_input:
      "A field is missing or wrong; `details.issues` names each by path, with the rule.",
    invalid_schedule:
      "The schedule can never fire as it is written; `details.issues` names each field by path.",
    invalid_affinity:
      "The option `affinity` of a workflow is wrong; `details.issues` has each place in the source.",
    invalid_routing:
      "The option `routing` of a workflow is wrong; `details.issues` has each place in the source.",
    invalid_limits:
      "The option `limits` of a workflow is wrong; `details.issues` has each place in the source.",
    reserved_label: "Label keys beginning `engine.` belong to the engine.",
    idempotency_mismatch:
      "The idempotency key belongs to a start with another input or version, `details.execution_id`.",
    unknown_worker: "No worker has ever registered under this name.",
    unknown_role: "No role has this name; `GET /admin/roles` lists them.",
    secret_too_short:
      "A secret without a text of 8 characters or a number of 8 digits cannot be masked in what is read; send `unmasked: true` to keep it all the same.",
  }),
  ...under(429, {
    concurrency_limited:
      'Every place of the workflow is taken and it refuses what would wait (`overflow: "reject"`); start it again when one has ended.',
    rate_limited:
      "Too many requests of this kind; try again after `Retry-After` seconds, also in `details.retry_after_seconds`.",
  }),
  ...under(431, { headers_too_large: "The request headers exceed 16 KiB." }),
  ...under(500, {
    internal: "A defect of the engine; the server's log has it under `details.request_id`.",
    workflow_failed: "The workflow failed; the record's `error` tells how.",
  }),
  ...under(502, {
    upstream_unreachable:
      "The gateway has no answer of a server: none could be reached, or the connection broke. Whether a run was started is not known in the second case; send it again with an idempotency key.",
  }),
  ...under(503, {
    unavailable:
      "The server or its database is away, or has no room for another large body; try again, after `Retry-After` seconds where the answer has that.",
    auth_unavailable:
      "The identity provider gave no keys to check the token with; try again after `Retry-After` seconds.",
    encryption_unavailable:
      "There is no encryption key, or not the one that something was stored with; set `[engine.security.encryption]`.",
    redaction_unavailable:
      "What has to be masked could not be read, so nothing is shown; try again.",
  }),
  ...under(504, {
    upstream_timeout:
      "A server was reached and did not answer in time; what was asked for may go on there.",
  }),
  ...under(null, {
    invalid_definition:
      "An option of `workflow()` or `task()` is unknown, of the wrong type or out of range.",
    no_execution:
      "A call was made outside a workflow, or in a function beside one: a schema, `retryIf`, `cache.key`, a storage. Make it in a body or in a task's function; outside call `task.fn` directly.",
    no_local_host: '`workflow.run` needs `import "@engine/local"` once in the program.',
  }),
};

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
