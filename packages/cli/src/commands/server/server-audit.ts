import { formatInstant, parseDuration, parseUtcInstant } from "@engine/contract";
import { type Command, InvalidArgumentError, Option } from "commander";
import { allPages } from "../../all-pages.ts";
import { wholeNumber } from "../../arguments/option-values.ts";
import { examples } from "../../examples.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { auditTable } from "../../render/audit-view.ts";
import { nextPage } from "../../render/next-page.ts";
import { onServer } from "../../server-call.ts";

interface AuditOptions {
  readonly actor?: string;
  readonly action?: string;
  readonly target?: string;
  readonly decision?: "allow" | "deny";
  readonly since?: string;
  readonly until?: string;
  readonly limit: number;
  readonly offset: number;
}

/** The most that a server answers at once. */
const PER_PAGE = 500;

/** `engine server audit`, which asks a server: reading the log takes a permission, also on its host. */
export function addAudit(server: Command, io: CliIo): void {
  const at = instantOrAgo(io);
  const command = server
    .command("audit")
    .summary("Lists who changed what and who was refused.")
    .description(
      "Lists who changed what and who was refused, newest first. Equal refusals of one minute are one row, which counts them. Takes admin:audit:read.",
    )
    .option("--actor <subject>", "only what this user, service account or worker did")
    .option("--action <action>", "only this, as principals.ban or server.admin_key.rotate")
    .option("--target <name>", "only what was done to this role, principal or other thing")
    .addOption(
      new Option("--decision <decision>", "only what was done, or refused").choices([
        "allow",
        "deny",
      ]),
    )
    .option("--since <time>", "only from then on: an instant, or how long ago, as 24h or 7d", at)
    .option("--until <time>", "only before then", at)
    .option("--limit <n>", "at most so many", wholeNumber(1), 100)
    .option("--offset <n>", "skip so many", wholeNumber(0), 0);
  onServer(io, command, async ({ client, print }, options: AuditOptions) => {
    const { actor, action, target, decision, since, until } = options;
    const only = { actor, action, target, decision, since, until };
    const page = await allPages(
      options,
      (place) => client.audit.list({ query: { ...only, ...place } }),
      PER_PAGE,
    );
    print(page, ({ items, total }, screen) => {
      if (items.length > 0) return auditTable(items, screen) + nextPage(page);
      return total > 0 ? `No more: ${total} match in all.\n` : "Nothing in the log matches.\n";
    });
  });
  examples(command, [
    "server audit",
    "server audit --decision deny --since 24h",
    "server audit --actor ada --action principals.ban --format json",
    "server audit --target billing --since 2026-11-20T09:00:00Z --until 2026-11-21T09:00:00Z",
  ]);
}

function instantOrAgo({ now }: Pick<CliIo, "now">): (text: string) => string {
  return (text) => {
    const ago = parseDuration(text);
    const at = ago === undefined ? parseUtcInstant(text) : now() - ago;
    if (Number.isFinite(at)) return formatInstant(at);
    throw new InvalidArgumentError(
      "Expected an instant such as 2026-11-20T09:00:00Z, or how long ago, such as 24h or 7d.",
    );
  };
}
