import {
  type Duration,
  EngineError,
  type Input,
  parseDuration,
  ROUTING_INPUT_HEADER,
  type RoutingInput,
  type routes,
  routingHeaderText,
} from "@engine/contract";
import type { WorkflowParts } from "./execution-handle.ts";
import { plainValue } from "./plain-value.ts";
import type { CallOptions } from "./route-call.ts";

/** How an execution is started; the server has a default for every option that is left out. */
export interface StartOptions extends CallOptions {
  /**
   * Names this start for the server: 1 to 255 printable ASCII characters, such as an order's number.
   * The server keeps it as long as the execution: of all starts of this workflow with the same key
   * one creates, and the others get that execution (EXE-84). So a start whose answer is lost is
   * tried again by itself.
   */
  readonly idempotencyKey?: string;
  /** Which version to run; the latest by default. */
  readonly version?: number;
  /** A label that lists of executions show. */
  readonly name?: string;
  /** From -10 to 10: one of lower priority waits as long as one of higher priority can start. */
  readonly priority?: number;
  /** No worker gets it before: an instant, as text ISO 8601 (UTC unless it has an offset). */
  readonly startAt?: Date | string;
  /** How long it may wait for a worker before it fails; 0 = for ever. */
  readonly parkTtl?: Duration;
  /** The worker that is asked first; another runs it when that one cannot. */
  readonly preferredWorker?: string;
  /** The only worker that may run it; it waits for it while that one is away. */
  readonly requiredWorker?: string;
  /**
   * Values that the workflow's affinity and routing may read: text, numbers, booleans, null and objects
   * of these. Nobody is shown them, and the workflow does not see them.
   */
  readonly routingInput?: RoutingInput;
}

type RunInput = Input<typeof routes.executions.run>;

/**
 * What a start sends.
 *
 * @throws EngineError `invalid_input` for an input that cannot travel, `bad_request` for an option
 *   that is none.
 */
export function startRequest(
  { namespace, name }: Pick<WorkflowParts, "namespace" | "name">,
  input: unknown,
  options: StartOptions,
): RunInput {
  return {
    params: { ns: namespace, wf: name, mode: "async" },
    query: {
      version: options.version,
      name: options.name,
      priority: options.priority,
      start_at: instantOf(options.startAt),
      park_ttl: secondsOf(options.parkTtl),
    },
    headers: {
      "idempotency-key": options.idempotencyKey,
      "x-engine-preferred-worker": options.preferredWorker,
      "x-engine-require-worker": options.requiredWorker,
      [ROUTING_INPUT_HEADER]: options.routingInput && routingHeaderText(options.routingInput),
    },
    body: plainValue(input, "input"),
  };
}

/** A text is the server's to read. */
function instantOf(startAt: Date | string | undefined): string | undefined {
  if (!(startAt instanceof Date)) return startAt;
  if (Number.isFinite(startAt.getTime())) return startAt.toISOString();
  throw new EngineError("bad_request", "startAt is an invalid Date; expected an instant");
}

function secondsOf(parkTtl: Duration | undefined): number | undefined {
  if (parkTtl === undefined) return undefined;
  const ms = parseDuration(parkTtl);
  if (ms !== undefined) return ms / 1_000;
  const message = `parkTtl cannot be ${JSON.stringify(parkTtl)}; expected milliseconds, or a text such as "10m"`;
  throw new EngineError("bad_request", message);
}
