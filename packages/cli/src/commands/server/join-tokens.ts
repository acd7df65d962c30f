import { type CreatedJoinToken, type JoinTokenRecord, NewJoinToken } from "@engine/contract";
import type { JoinTokens } from "@engine/server";
import type { Command } from "commander";
import { neverAnArgument } from "../../arguments/hidden-value.ts";
import { httpUrl, wholeNumber } from "../../arguments/option-values.ts";
import { examples } from "../../examples.ts";
import { UsageError } from "../../io/cli-error.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { table } from "../../render/table.ts";
import {
  callServer,
  formatOption,
  printer,
  type ServerCall,
  type ServerOptions,
} from "../../server-call.ts";
import { type Host, type HostOptions, hostOptions, onHost } from "./on-host.ts";

type Options = HostOptions & ServerOptions;

interface MakeOptions extends Options {
  readonly ttl?: number;
  readonly subject?: string;
}

interface RevokeOptions extends Options {
  readonly id?: string;
  readonly subject?: string;
}

/** Most tokens that are listed. */
const MOST = 1000;

export function addJoinTokens(server: Command, io: CliIo): void {
  const make = tokenOptions(
    server
      .command("join-token")
      .summary("Makes a token with which one worker may join, once.")
      .description(
        "Makes a token with which one worker may join, once, and prints it; its end goes to stderr. The worker gets it as ENGINE_WORKERS__JOIN_TOKEN or by engine.workers.join_token_file.",
      )
      .option("--ttl <seconds>", "its life (default: join_token_ttl)", wholeNumber(1))
      .option("--subject <name>", "the one worker that it is for; a known one may join anew by it"),
  ).action(async (options: MakeOptions) => {
    const made = await where(io, options, {
      host: ({ entry, user }, tokens) =>
        tokens.create(asked(options), {
          by: user,
          entry: (id) => entry("server.join_token.create", id),
        }),
      server: ({ client }) => client.joinTokens.create({ body: asked(options) }),
    });
    printer(io, options.format)(made, ({ token }: CreatedJoinToken) => `${token}\n`);
    io.err.write(`expires at ${made.expires_at}\n`);
  });
  examples(make, ["server join-token", "server join-token --subject gpu-1 --ttl 600"]);

  const list = tokenOptions(
    server
      .command("join-tokens")
      .description(
        "Lists the join tokens that can still be used, newest first, without their text.",
      ),
  ).action(async (options: Options) => {
    const query = { limit: MOST, offset: 0 };
    const page = await where(io, options, {
      host: (_, tokens) => tokens.list(query),
      server: ({ client }) => client.joinTokens.list({ query }),
    });
    printer(io, options.format)(page, ({ items }, { paint }) =>
      table(["ID", "FOR", "MADE BY", "EXPIRES"], items.map(rowOf), paint),
    );
  });
  examples(list, ["server join-tokens", "server join-tokens --format json"]);

  const revoke = tokenOptions(
    server
      .command("revoke-join-token")
      .description("Revokes one join token, or all that are for one worker.")
      .option("--id <id>", "the token's id, as join-token and join-tokens show it")
      .option("--subject <name>", "all that are for this worker"),
  ).action(async (options: RevokeOptions) => {
    const { id, subject } = options;
    if ((id === undefined) === (subject === undefined) || subject?.trim() === "") {
      throw new UsageError("name what to revoke: --id <id>, or --subject <name>");
    }
    await where<unknown>(io, options, {
      async host({ entry }, tokens) {
        const row = entry("server.join_token.revoke", id ?? subject ?? null);
        if (id !== undefined) await tokens.revoke(id, row);
        else await tokens.revokeFor(subject ?? "", row);
      },
      server: ({ client }) =>
        id === undefined
          ? client.joinTokens.revokeFor({ query: { subject: subject ?? "" } })
          : client.joinTokens.revoke({ params: { id } }),
    });
    io.err.write("revoked\n");
  });
  neverAnArgument(revoke, "token", "name it by --id or --subject");
  examples(revoke, [
    "server revoke-join-token --id a1b2c3d4e5f6",
    "server revoke-join-token --subject gpu-1",
  ]);
}

/**
 * The store of this host, or a server that is named.
 *
 * @throws UsageError where both are: one of them would be passed over in silence.
 */
async function where<Value>(
  io: CliIo,
  options: Options,
  work: {
    readonly host: (host: Host, tokens: JoinTokens) => Promise<Value>;
    readonly server: (server: ServerCall) => Promise<Value>;
  },
): Promise<Value> {
  const { serverUrl, databaseUrl } = options;
  if (serverUrl !== undefined && databaseUrl !== undefined) {
    throw new UsageError("name a server or a database: --server-url, or --database-url");
  }
  if (serverUrl !== undefined) return callServer(io, options, work.server);
  return onHost(io, options, async (host) => {
    const { JoinTokens } = await import("@engine/server");
    return work.host(host, new JoinTokens(host.ports));
  });
}

/** @throws UsageError for what a server would refuse. */
function asked({ ttl, subject }: MakeOptions): NewJoinToken {
  const wanted = { ttl_seconds: ttl, subject };
  const parsed = NewJoinToken.safeParse(wanted);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const option = issue?.path[0] === "subject" ? "--subject" : "--ttl";
  throw new UsageError(`${option}: ${issue?.message}`);
}

function tokenOptions(command: Command): Command {
  return hostOptions(command.addOption(formatOption())).option(
    "--server-url <url>",
    "ask this server instead of the store of this host",
    httpUrl,
  );
}

function rowOf({ id, subject, created_by, expires_at }: JoinTokenRecord): string[] {
  return [id, subject ?? "any new name", created_by ?? "", expires_at];
}
