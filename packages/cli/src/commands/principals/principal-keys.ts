/** The commands for API keys, which service accounts have (AUTH-13). */
import { EngineError } from "@engine/contract";
import type { Command } from "commander";
import { allPages, type PartOptions, partOptions } from "../../all-pages.ts";
import { neverAnArgument } from "../../arguments/hidden-value.ts";
import { days, permissions } from "../../arguments/option-values.ts";
import { examples } from "../../examples.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { nextPage } from "../../render/next-page.ts";
import { keyTable } from "../../render/principal-view.ts";
import { lines } from "../../render/table.ts";
import { another, onPrincipal, type PrincipalOptions } from "./on-principal.ts";

interface CreateKeyOptions extends PrincipalOptions {
  readonly keyName: string;
  readonly expires?: number;
  readonly permission?: string[];
}

export function addCreateKey(principals: Command, io: CliIo): void {
  const command = principals
    .command("create-key")
    .summary("Makes an API key of a service account.")
    .description(
      "Makes an API key of a service account and prints it, this once: nobody can show it again. Only the key goes to stdout, so that it can be sent to a file.",
    )
    .requiredOption("--key-name <name>", "to know it again: where it is used, for example")
    .option("--expires <days>", "when it ends, as 90d (default: never)", days)
    .option(
      "--permission <permission>",
      "narrows it: it may only do this, as far as its account may; may be repeated",
      permissions,
    );
  onPrincipal(io, command, async ({ client, print }, named, options: CreateKeyOptions) => {
    const { keyName: name, expires, permission } = options;
    const body = {
      name,
      ...(expires !== undefined && { expires_in_days: expires }),
      ...(permission && { permissions: permission }),
    };
    const made = await client.principals.createKey({ ...named, body });
    print(made, ({ key }) => `${key}\n`);
    const end = made.expires_at === null ? "never expires" : `expires at ${made.expires_at}`;
    io.err.write(lines([`key ${name} of ${named.params.subject} ${end}; it is not shown again`]));
  });
  neverAnArgument(command, "key", "it is made here, and printed");
  examples(command, [
    "principals create-key reports --key-name laptop --expires 90d",
    "principals create-key reports --key-name ci --permission 'workflow:shop:*' > ci.key",
  ]);
}

export function addListKeys(principals: Command, io: CliIo): void {
  const command = partOptions(
    principals
      .command("list-keys")
      .description("Lists the API keys of a service account by name, without the keys themselves."),
  );
  onPrincipal(
    io,
    command,
    async ({ client, print }, named, options: PartOptions & PrincipalOptions) => {
      const page = await allPages(options, (place) =>
        client.principals.listKeys({ ...named, query: { ...named.query, ...place } }),
      );
      print(page, ({ items, total }, screen) => {
        if (items.length > 0) return keyTable(items, screen) + nextPage(page);
        return total > 0
          ? `No more: there are ${total} in all.\n`
          : `No keys. Make one: ${another("create-key", named, options)} --key-name <name>\n`;
      });
    },
  );
  examples(command, ["principals list-keys reports"]);
}

interface RevokeKeyOptions extends PrincipalOptions {
  readonly keyName: string;
}

export function addRevokeKey(principals: Command, io: CliIo): void {
  const command = principals
    .command("revoke-key")
    .description("Revokes an API key: nobody comes in by it from now on.")
    .requiredOption("--key-name <name>", "name of the key, as list-keys shows it");
  onPrincipal(io, command, async ({ client, print }, named, options: RevokeKeyOptions) => {
    const { subject } = named.params;
    const key_name = options.keyName;
    try {
      await client.principals.revokeKey({ ...named, params: { subject, key_name } });
    } catch (error) {
      if (!(error instanceof EngineError) || error.details?.["resource"] !== "key") throw error;
      const list = another("list-keys", named, options);
      throw new EngineError(error.code, `${subject} has ${error.message}; see all with: ${list}`);
    }
    print({ subject, key_name }, () => lines([`Revoked key ${key_name} of ${subject}.`]));
  });
  neverAnArgument(command, "key", "name it by --key-name");
  examples(command, ["principals revoke-key reports --key-name laptop"]);
}
