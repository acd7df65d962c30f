import { EngineError, type ErrorCode } from "@engine/contract";
import type { CliIo } from "./io/cli-io.ts";

interface Called {
  readonly url: string;
  /** Names the server on a command line, where it was named on this one. */
  readonly flag: string;
  readonly env: CliIo["env"];
}

/** What a server refused or could not find, with the command that helps. */
export function withAdvice(error: EngineError, { url, flag, env }: Called): EngineError {
  const { code, message, cause, details } = error;
  const resource = String(details?.["resource"]);
  // No answer came at all; a server that answers `unavailable` itself has no cause to show.
  if (code === "unavailable" && cause !== undefined) {
    const [what] = message.split("; ");
    const advice = "start an engine with `npx engine dev`, or name another with --server-url";
    return new EngineError(code, `${what}; ${advice}`, { cause });
  }
  const said = (text: string) =>
    new EngineError(code, text, { cause: error, ...(details && { details }) });
  if (code === "unauthenticated") {
    const login = `npx engine auth login${flag}`;
    if (env["ENGINE_AUTH_TOKEN"]) {
      return said(`${message}; it is that of ENGINE_AUTH_TOKEN, which wins over a login`);
    }
    // The server speaks of headers, which nobody writes here.
    const isMissing = details?.["reason"] === "missing";
    return isMissing
      ? said(`${url} wants to know who you are; log in with: ${login}`)
      : said(`${message}; log in again with: ${login}`);
  }
  // A server answers, but does not know the route: the address is not an engine's.
  if (code === "method_not_allowed" || resource === "route") {
    const advice = `check the address ${url}, or whether that engine is older than this command`;
    return said(`${message}; ${advice}`);
  }
  // What is not there may have another name: the list of all tells.
  const list = code === "not_found" ? LISTS[resource] : LISTS_OF_CODES[code];
  return list === undefined
    ? error
    : said(`${message}; see all of them with: npx engine ${list}${flag}`);
}

/** Commands that list the resources which answers name. */
const LISTS: Readonly<Record<string, string>> = {
  workflow: "workflow list",
  execution: "execution list",
  schedule: "schedule list",
  hook: "hook list",
  service: "service list",
  role: "roles list",
  principal: "principals list",
  secret: "secrets list",
  config: "config list",
};

const LISTS_OF_CODES: Readonly<Partial<Record<ErrorCode, string>>> = {
  unknown_role: "roles list",
  target_not_found: "workflow list",
  principal_not_found: "principals list --type service_account",
};
