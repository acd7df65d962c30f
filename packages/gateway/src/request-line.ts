import type { EngineError } from "@engine/contract";
import type { Exchange } from "./exchange.ts";
import type { GatewayLog } from "./gateway-options.ts";
import type { GatewayTarget } from "./gateway-path.ts";
import type { GatewayTiming } from "./timing.ts";

/** The line of the log that each request is, written once it is over (SVC-62). */
export class RequestLine {
  target: GatewayTarget | undefined;
  #error: EngineError | undefined;

  constructor({ request, response }: Exchange, log: GatewayLog, { now }: GatewayTiming) {
    const began = now();
    response.once("close", () => {
      const { target } = this;
      const ofCall = target?.kind === "call" ? target.execution_id : undefined;
      const error = this.#error;
      log.info(
        {
          method: request.method,
          // What a path that is none holds is anybody's text.
          route: target?.route ?? null,
          // Null where the client left before there was an answer.
          status: response.headersSent ? response.statusCode : null,
          duration_ms: Math.round(now() - began),
          execution_id: response.getHeader("x-engine-execution-id") ?? ofCall ?? null,
          request_id: response.getHeader("x-request-id"),
          ...(!response.writableFinished && { is_cut: true }),
          ...(error && { code: error.code }),
          ...(error?.cause !== undefined && { reason: reasonOf(error.cause) }),
        },
        "request",
      );
    });
  }

  refused(error: EngineError): void {
    this.#error = error;
  }
}

/** Why something could not be reached, in a few words: addresses too, which only logs may have. */
export function reasonOf(cause: unknown): string {
  if (cause instanceof AggregateError) return reasonOf(cause.errors[0]);
  return cause instanceof Error ? cause.message : String(cause);
}
