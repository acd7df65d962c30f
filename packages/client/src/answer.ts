import {
  EngineError,
  ERRORS,
  ErrorBody,
  type ErrorCode,
  isRaw,
  type RawAnswer,
  type Route,
} from "@engine/contract";
import type { FetchResponse } from "./transport.ts";

/**
 * Reads an answer by its row: a listed status whose body fits is a result, everything else is
 * thrown as EngineError.
 *
 * @param from Method and URL, for messages.
 */
export async function readAnswer(
  route: Route,
  response: FetchResponse,
  from: string,
): Promise<unknown> {
  const text = await response.text();
  const row = route.answers[response.status];
  const body =
    row && isRaw(row)
      ? rawBody(row, response, text, from)
      : fitting(row, response.status, text, from);
  return Object.keys(route.answers).length === 1 ? body : { status: response.status, body };
}

/** A text, or what the headers say in place of one. */
function rawBody(
  { raw, headers }: RawAnswer,
  response: FetchResponse,
  text: string,
  from: string,
): unknown {
  if (!headers) return raw === null ? undefined : text;
  const told = Object.keys(headers.shape).map((name) => [name, response.headers.get(name)]);
  const result = headers.safeParse(Object.fromEntries(told));
  if (result.success) return result.data;
  throw foreign(response.status, text, from, result.error.issues[0]);
}

function fitting(
  schema: Exclude<Route["answers"][number], { raw: unknown }> | undefined,
  status: number,
  text: string,
  from: string,
): unknown {
  const json = parsed(text);
  const result = schema?.safeParse(json);
  if (result?.success) return result.data;
  // What is no JSON at all is of no version of the engine.
  const issue = json === undefined ? undefined : result?.error.issues[0];
  throw refusal(json, status, from) ?? foreign(status, text, from, issue);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The engine's own error, also one whose code a newer server knows and this client does not. */
function refusal(json: unknown, status: number, from: string): EngineError | undefined {
  const result = ErrorBody.safeParse(json);
  if (result.success) return EngineError.from(result.data);
  const error = (json as { error?: { code?: unknown; message?: unknown } } | undefined)?.error;
  if (typeof error?.code !== "string" || typeof error.message !== "string") return undefined;
  return new EngineError(codeOf(status), `${error.message} (${from} answered ${error.code})`, {
    details: { ...error },
  });
}

/** Something that is not the engine's: a proxy's page, another program, another version. */
function foreign(
  status: number,
  text: string,
  from: string,
  issue: { path: readonly PropertyKey[]; message: string } | undefined,
): EngineError {
  if (status < 300 && issue) {
    const message = `the answer of ${from} does not fit (${issue.path.join(".")}: ${issue.message}); check that server and client are of the same version`;
    return new EngineError("internal", message);
  }
  const message = `${from} answered ${status}, but not as the engine does: ${JSON.stringify(text.slice(0, 120))}; check the URL and what stands in between`;
  return new EngineError(status >= 500 ? "unavailable" : codeOf(status), message);
}

function codeOf(status: number): ErrorCode {
  const codes = Object.keys(ERRORS) as ErrorCode[];
  return codes.find((code) => ERRORS[code].status === status) ?? "internal";
}
