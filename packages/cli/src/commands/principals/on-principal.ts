import { EngineError, type PrincipalRecord } from "@engine/contract";
import type { Command } from "commander";
import type { CliIo } from "../../io/cli-io.ts";
import { shellQuote } from "../../render/value-text.ts";
import { onServer, type ServerCall, type ServerOptions, serverFlag } from "../../server-call.ts";

export interface PrincipalOptions extends ServerOptions {
  readonly issuer?: string;
}

/** How a request names a principal (AUTH-19). */
export interface Named {
  readonly params: { readonly subject: string };
  readonly query: { readonly issuer?: string };
}

/** Adds the subject to a command about one principal, and what tells it from others of that subject. */
function subjectArgument(command: Command): Command {
  return command
    .argument("<subject>", "subject of a service account, user or worker")
    .option(
      "--issuer <issuer>",
      "of several with this subject: engine, engine:workers, or the URL of a provider (default: engine, or the only one)",
    );
}

/** As `onServer`, for a command about one principal. Its other options are named before. */
export function onPrincipal<Options extends PrincipalOptions>(
  io: CliIo,
  command: Command,
  work: (server: ServerCall, named: Named, options: Options) => Promise<void>,
): void {
  onServer(io, subjectArgument(command), (server, subject: string, options: Options) => {
    const query = options.issuer === undefined ? {} : { issuer: options.issuer };
    return work(server, { params: { subject }, query }, options);
  });
}

/** The principal as it is; undefined for callers who may change it and not read it. */
export async function readable(
  { client }: ServerCall,
  named: Named,
): Promise<PrincipalRecord | undefined> {
  try {
    return await client.principals.get(named);
  } catch (error) {
    if (error instanceof EngineError && error.code === "permission_denied") return undefined;
    throw error;
  }
}

/** A command about the same principal, to be typed next. */
export function another(
  command: string,
  { params, query }: Named,
  options: Pick<ServerOptions, "serverUrl">,
): string {
  const issuer = query.issuer === undefined ? "" : ` --issuer ${shellQuote(query.issuer)}`;
  return `npx engine principals ${command} ${shellQuote(params.subject)}${issuer}${serverFlag(options)}`;
}
