/** `fetch`, as far as it is used here. */
export type TokenFetch = (
  url: string,
  request: {
    readonly headers: Readonly<Record<string, string>>;
    readonly redirect: "manual";
    readonly signal: AbortSignal;
  },
) => Promise<Response>;

/** Calls back once after that many milliseconds; the answer cancels. */
export type SetTimer = (run: () => void, ms: number) => () => void;

/** The network, and the clock that gives up on it. */
export interface Network {
  readonly fetch: TokenFetch;
  readonly setTimer: SetTimer;
}

const TIMEOUT_MS = 5_000;
/** Of an answer as it is read, after it was unpacked. */
const MOST_BYTES = 1024 * 1024;

/**
 * A document of a provider (AUTH-15). It has to be where it was looked for: a redirect could lead to
 * where nobody meant to trust.
 *
 * @throws Error with a reason that may be logged: it holds nothing of the answer.
 */
export async function fetchJson(url: string, { fetch, setTimer }: Network): Promise<unknown> {
  const late = new AbortController();
  const cancel = setTimer(() => late.abort(new Error("no answer within 5 seconds")), TIMEOUT_MS);
  try {
    const response = await fetch(url, {
      headers: { accept: "application/json" },
      redirect: "manual",
      signal: late.signal,
    });
    return parsed(await bodyOf(response));
  } finally {
    cancel();
  }
}

/** Why something could not be fetched, in a few words. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "it failed";
  // What `fetch` itself says is only that it failed.
  const { cause } = error;
  if (cause instanceof Error) return (cause as NodeJS.ErrnoException).code ?? cause.message;
  return error.message;
}

async function bodyOf(response: Response): Promise<Buffer> {
  const { status, body } = response;
  const declared = Number(response.headers.get("content-length") ?? 0);
  if (status !== 200 || declared > MOST_BYTES) {
    await body?.cancel();
    throw new Error(status === 200 ? "the answer is larger than 1 MiB" : `it answered ${status}`);
  }
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop by an error closes the connection.
  for await (const chunk of body ?? []) {
    length += chunk.byteLength;
    if (length > MOST_BYTES) throw new Error("the answer is larger than 1 MiB");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    throw new Error("the answer is not JSON");
  }
}
