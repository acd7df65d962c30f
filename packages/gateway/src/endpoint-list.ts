import { EngineError, notFound, type ResolvedService } from "@engine/contract";
import type { Condition } from "./condition.ts";
import type { GatewayTiming } from "./timing.ts";

/** What one fetch asks for. */
export interface ListRequest {
  /** Of the list that is known. */
  readonly etag: string | undefined;
  /** Of the request that caused the fetch; the gateway's own token goes before it. */
  readonly authorization: string | undefined;
  readonly signal: AbortSignal;
}

export interface FetchedList {
  readonly service: ResolvedService;
  readonly etag: string | undefined;
}

/**
 * Asks a server for the list (SVC-12): undefined where nothing has changed. What it throws is an
 * EngineError, and the signal's reason once that aborts.
 */
export type FetchList = (asked: ListRequest) => Promise<FetchedList | undefined>;

export interface EndpointListOptions {
  /** Name of the service. */
  readonly service: string;
  readonly fetch: FetchList;
  /** For so long a list is used as it is; 0 = not at all. */
  readonly ttlMs: number;
  readonly timing: GatewayTiming;
  readonly condition: Condition;
  /** Told of each new list; undefined when the service does not exist any more. */
  readonly onList?: (service: ResolvedService | undefined) => void;
  /** Told of each fetch, and why it failed. */
  readonly onFetched?: (failure: EngineError | undefined) => void;
}

const TIMEOUT_MS = 10_000;
/** Between the end of one forced fetch and the start of the next. */
const SPACING_MS = 250;

/** The outcome of a fetch: why it failed. */
type Failure = EngineError | undefined;

/**
 * The endpoints of the service, as last fetched (GW-16 to GW-19). It tells which names are worth
 * asking the server for, and never who may ask. One fetch is under way at a time, whoever waits for
 * it. A name that is not known forces a fetch, and those keep a distance from each other: whoever
 * comes earlier waits for the next one, so that no number of made-up names makes many fetches, and no
 * name that was there before a fetch began is refused by it.
 */
export class EndpointList {
  readonly #options: EndpointListOptions;
  readonly #closing = new AbortController();
  #list: FetchedList | undefined;
  #names: ReadonlySet<string> = new Set();
  #fetchedAt: number | undefined;
  /** Something has shown that the list is not what the server has. */
  #isDoubted = false;
  #fetching: Promise<Failure> | undefined;
  /** Somebody waits for the fetch that is under way because of a name. */
  #isForced = false;
  #forcedUntil: number | undefined;
  /** The forced fetch that is still to begin. */
  #next: Promise<Failure> | undefined;

  constructor(options: EndpointListOptions) {
    this.#options = options;
  }

  /** Undefined until there is one, and while the service does not exist. */
  get service(): ResolvedService | undefined {
    return this.#list?.service;
  }

  /** Since the last fetch that succeeded; undefined before it. */
  get ageMs(): number | undefined {
    return this.#fetchedAt === undefined ? undefined : this.#options.timing.now() - this.#fetchedAt;
  }

  /**
   * Returns once a request for this workflow is to be passed on.
   *
   * @throws EngineError `not_found`; `upstream_unreachable` or `upstream_timeout` where only the
   *   server could tell.
   */
  async admit(workflow: string, authorization: string | undefined): Promise<void> {
    if (this.#names.has(workflow)) {
      if (this.#isFresh) return;
      const refreshing = this.refresh(authorization);
      if (this.#options.ttlMs > 0) return;
      const failure = await refreshing;
      if (!this.#names.has(workflow)) throw this.#unknown(workflow, failure);
      return;
    }
    const failure = await this.#force(authorization);
    if (this.#names.has(workflow) || isRefusal(failure)) return;
    throw this.#unknown(workflow, failure);
  }

  /**
   * The service with what it offers, known or fetched.
   *
   * @param options.fresh What is known will not do: something was missed.
   * @throws EngineError as the server refuses it; `upstream_unreachable` or `upstream_timeout` where
   *   nothing is known.
   */
  async read(
    authorization: string | undefined,
    { fresh }: { readonly fresh: boolean },
  ): Promise<ResolvedService> {
    if (!fresh && this.#isFresh && this.#list) return this.#list.service;
    const failure = await (fresh ? this.#force(authorization) : this.refresh(authorization));
    const known = this.#list?.service;
    if (known && !isRefusal(failure)) return known;
    throw this.#untold(failure);
  }

  /**
   * Sees to it that what is known is young enough, or will be; the first time it is waited for.
   *
   * @throws EngineError as {@link read} does, where nothing is known.
   */
  async freshen(authorization: string | undefined): Promise<void> {
    if (this.#isFresh && this.#list) return;
    if (this.#list && this.#options.ttlMs > 0) {
      void this.refresh(authorization);
      return;
    }
    // Where there is none, many that ask make no more fetches than unknown names do.
    const failure = await (this.#list ? this.refresh(authorization) : this.#force(authorization));
    if (!this.#list) throw this.#untold(failure);
  }

  /** Something was missed: fetches the list, no more often than for unknown names. Never rejects. */
  renew(authorization: string | undefined): Promise<unknown> {
    return this.#force(authorization);
  }

  /** The server did not know a name that is on the list. */
  doubt(): void {
    this.#isDoubted = true;
  }

  /** Fetches the list, or joins the fetch that is under way. Never rejects. */
  refresh(authorization: string | undefined): Promise<Failure> {
    this.#fetching ??= this.#fetch(authorization).finally(() => {
      this.#fetching = undefined;
      if (this.#isForced) this.#forcedUntil = this.#options.timing.now() + SPACING_MS;
      this.#isForced = false;
    });
    return this.#fetching;
  }

  /** Ends what is under way. */
  close(): void {
    this.#closing.abort(new EngineError("unavailable", "the gateway is stopping"));
  }

  get #isFresh(): boolean {
    const { ttlMs } = this.#options;
    return !this.#isDoubted && ttlMs > 0 && (this.ageMs ?? Number.POSITIVE_INFINITY) <= ttlMs;
  }

  #force(authorization: string | undefined): Promise<Failure> {
    if (this.#fetching) {
      this.#isForced = true;
      return this.#fetching;
    }
    const wait = (this.#forcedUntil ?? 0) - this.#options.timing.now();
    if (this.#forcedUntil === undefined || wait <= 0) return this.#beginForced(authorization);
    this.#next ??= this.#passed(wait).then(() => {
      this.#next = undefined;
      return this.#beginForced(authorization);
    });
    return this.#next;
  }

  #beginForced(authorization: string | undefined): Promise<Failure> {
    const fetching = this.refresh(authorization);
    this.#isForced = true;
    return fetching;
  }

  #passed(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#options.timing.setTimer(resolve, ms));
  }

  async #fetch(authorization: string | undefined): Promise<Failure> {
    const { fetch, timing, condition, onFetched } = this.#options;
    const late = new AbortController();
    const cancel = timing.setTimer(() => late.abort(tooLate()), TIMEOUT_MS);
    const wasDoubted = this.#isDoubted;
    this.#isDoubted = false;
    try {
      const signal = AbortSignal.any([late.signal, this.#closing.signal]);
      const fetched = await fetch({ etag: this.#list?.etag, authorization, signal });
      this.#fetchedAt = timing.now();
      if (fetched) this.#take(fetched);
      condition.fetched();
      onFetched?.(undefined);
      return undefined;
    } catch (thrown) {
      const error = failureOf(thrown);
      if (isOfService(error)) this.#empty();
      else this.#isDoubted ||= wasDoubted;
      condition.fetchFailed(error.code);
      onFetched?.(error);
      return error;
    } finally {
      cancel();
    }
  }

  #take(fetched: FetchedList): void {
    const { endpoints, collisions } = fetched.service;
    this.#list = fetched;
    this.#names = new Set([...endpoints, ...collisions].map(({ name }) => name));
    this.#options.onList?.(fetched.service);
  }

  /** The service does not exist, or not any more. */
  #empty(): void {
    const wasKnown = this.#list !== undefined;
    this.#list = undefined;
    this.#names = new Set();
    if (wasKnown) this.#options.onList?.(undefined);
  }

  #untold(failure: Failure): EngineError {
    if (!failure || isOfService(failure)) return notFound("service", this.#options.service);
    return isRefusal(failure) ? failure : asUpstream(failure);
  }

  #unknown(workflow: string, failure: Failure): EngineError {
    const { service } = this.#options;
    if (!failure) return notFound("workflow", `${workflow} in service ${service}`);
    return isOfService(failure) ? notFound("service", service) : asUpstream(failure);
  }
}

function failureOf(thrown: unknown): EngineError {
  if (thrown instanceof EngineError) return thrown;
  return new EngineError("internal", "the endpoint list could not be read", { cause: thrown });
}

/** Not any 404: an address that is none of an engine's answers that too. */
function isOfService({ code, details }: EngineError): boolean {
  return code === "not_found" && details?.["resource"] === "service";
}

/** Whether the server would not say: it decides when the request itself comes to it. */
function isRefusal(failure: Failure): boolean {
  return failure?.status === 401 || failure?.status === 403;
}

/** The same without what only operators should read. */
function asUpstream({ code }: EngineError): EngineError {
  if (code === "upstream_timeout") return tooLate();
  const message = "the engine could not be asked which endpoints there are; try again";
  return new EngineError("upstream_unreachable", message);
}

function tooLate(): EngineError {
  return new EngineError(
    "upstream_timeout",
    `the engine did not say within ${TIMEOUT_MS / 1000} seconds which endpoints there are; try again`,
  );
}
