import {
  EngineError,
  parseRoutingInput,
  ROUTING_INPUT_HEADER,
  type RoutingInput,
  type RoutingInputFault,
  routingInputFault,
} from "@engine/contract";
import { type Call, headerValues } from "@engine/http";

/**
 * The routing input of a request's header, undefined where there is none.
 *
 * @throws EngineError `invalid_routing_input`, which repeats nothing of what came (RIN-2).
 */
export function routingHeader({
  headers,
  raw_headers,
}: Pick<Call, "headers" | "raw_headers">): RoutingInput | undefined {
  if (headers[ROUTING_INPUT_HEADER] === undefined) return undefined;
  const [only, ...others] = headerValues(raw_headers, ROUTING_INPUT_HEADER);
  if (only === undefined) return undefined;
  if (others.length > 0) throw invalid("repeated");
  const text = asUtf8(only);
  const { value, reason } = text === undefined ? MALFORMED : parseRoutingInput(text);
  if (reason) throw invalid(reason);
  return value;
}

const MALFORMED = { reason: "malformed", value: undefined } as const;

function invalid(reason: RoutingInputFault): EngineError {
  const message = `the header X-Engine-Routing-Input ${routingInputFault(reason)}`;
  return new EngineError("invalid_routing_input", message, { details: { reason } });
}

/** Node reads each byte of a header as a character of its own. */
function asUtf8(header: string): string | undefined {
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    return decoder.decode(Buffer.from(header, "latin1"));
  } catch {
    return undefined;
  }
}
