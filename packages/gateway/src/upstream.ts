import type { IncomingMessage } from "node:http";
import { type Server, Servers } from "@engine/client/node";
import { EngineError } from "@engine/contract";
import type { Condition } from "./condition.ts";
import type { GatewayTiming } from "./timing.ts";
import { UpstreamAttempt, type UpstreamRequest } from "./upstream-attempt.ts";

export interface UpstreamOptions {
  readonly urls: readonly string[];
  readonly timing: GatewayTiming;
  readonly condition: Condition;
  /** Told once, of the first server to which a credential goes where others can read it (NET-6). */
  readonly onExposed?: (host: string) => void;
}

/** For a connection to any of the servers (GW-14). */
const CONNECT_MS = 5_000;
/** A connection that rests longer may be ended by whatever stands in between, just as it is used. */
const REST_MS = 30_000;

/** The servers behind the gateway, as one. */
export class Upstream {
  readonly #options: UpstreamOptions;
  readonly #servers: Servers;
  #isExposureTold = false;

  constructor(options: UpstreamOptions) {
    this.#options = options;
    this.#servers = new Servers(options.urls, { restMs: REST_MS });
  }

  /**
   * The head of the answer, whose body is still to come. A server that cannot be reached is left for
   * the next one; what has been sent is never sent again, but for reads on a connection that the
   * server may have ended before they came.
   *
   * @throws EngineError `upstream_unreachable`, `upstream_timeout`; the signal's reason.
   */
  async send(asked: UpstreamRequest): Promise<IncomingMessage> {
    return this.#send(asked, false);
  }

  close(): void {
    this.#servers.close();
  }

  async #send(asked: UpstreamRequest, isAgain: boolean): Promise<IncomingMessage> {
    const { timing, condition } = this.#options;
    const { attempt, server } = await this.#connect(asked, isAgain);
    if (server.isExposed && asked.headers["authorization"] !== undefined) this.#tellExposed(server);
    asked.onReached?.();
    try {
      const head = await attempt.head(timing);
      condition.reached();
      return head;
    } catch (error) {
      asked.signal.throwIfAborted();
      if (error instanceof EngineError) {
        this.#servers.failed(server);
        throw error;
      }
      if (attempt.isReused && !isAgain && isRepeatable(asked)) return this.#send(asked, true);
      this.#servers.failed(server);
      condition.unreached();
      throw unreachable(
        "the connection to the engine broke before it answered; what was asked for may go on there",
        error,
      );
    }
  }

  #tellExposed({ host }: Server): void {
    if (!this.#isExposureTold) this.#options.onExposed?.(host);
    this.#isExposureTold = true;
  }

  async #connect(
    asked: UpstreamRequest,
    isAlone: boolean,
  ): Promise<{ readonly attempt: UpstreamAttempt; readonly server: Server }> {
    const { timing, condition } = this.#options;
    const end = timing.now() + CONNECT_MS;
    let cause: unknown;
    for (let left = this.#servers.count; left > 0; left--) {
      asked.signal.throwIfAborted();
      const server = this.#servers.current;
      const attempt = new UpstreamAttempt(server, asked, isAlone);
      try {
        // Each has its share of the time, or one that is silent would leave none to the next.
        await attempt.connected((end - timing.now()) / left, timing);
        return { attempt, server };
      } catch (error) {
        asked.signal.throwIfAborted();
        cause = error;
        this.#servers.failed(server);
      }
    }
    condition.unreached();
    throw unreachable("the engine cannot be reached; try again", cause);
  }
}

function isRepeatable({ method, body }: UpstreamRequest): boolean {
  return body === undefined && (method === "GET" || method === "HEAD");
}

/** The message goes to callers, who are told no address; the cause is for logs. */
function unreachable(message: string, cause: unknown): EngineError {
  return new EngineError("upstream_unreachable", message, { cause });
}
