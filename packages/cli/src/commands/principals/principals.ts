import { PrincipalType } from "@engine/contract";
import { type Command, Option } from "commander";
import { allPages, type PartOptions, partOptions } from "../../all-pages.ts";
import { examples } from "../../examples.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { nextPage } from "../../render/next-page.ts";
import { principalTable, principalView } from "../../render/principal-view.ts";
import { onServer } from "../../server-call.ts";
import { onPrincipal } from "./on-principal.ts";
import {
  addBan,
  addDisable,
  addEnable,
  addGrant,
  addRevoke,
  addUnban,
} from "./principal-access.ts";
import { addCreateKey, addListKeys, addRevokeKey } from "./principal-keys.ts";
import { addCreate, addDelete, addUpdate } from "./principal-write.ts";

interface ListOptions extends PartOptions {
  readonly type?: PrincipalType;
  readonly role?: string;
  readonly issuer?: string;
  readonly disabled?: boolean;
  readonly banned?: boolean;
}

/** `engine principals …`: who may come in, and what they are given (AUTH-18 to AUTH-23). */
export function addPrincipals(program: Command, io: CliIo): void {
  const principals = program
    .command("principals")
    .summary("Shows, makes and changes users, service accounts and workers.")
    .description(
      "Shows, makes and changes users, service accounts and workers: who may come in, and which roles they have. Takes admin:principals:read, and admin:principals:manage for changes.",
    );
  addList(principals, io);
  addShow(principals, io);
  addCreate(principals, io);
  addUpdate(principals, io);
  addGrant(principals, io);
  addRevoke(principals, io);
  addEnable(principals, io);
  addDisable(principals, io);
  addBan(principals, io);
  addUnban(principals, io);
  addDelete(principals, io);
  addCreateKey(principals, io);
  addListKeys(principals, io);
  addRevokeKey(principals, io);
}

function addList(principals: Command, io: CliIo): void {
  const command = partOptions(
    principals
      .command("list")
      .description("Lists users, service accounts and workers by subject.")
      .addOption(new Option("--type <type>", "only of this type").choices(PrincipalType.options))
      .option("--role <role>", "only those that have this role")
      .option("--issuer <issuer>", "only of this issuer")
      .option("--disabled", "only those that are not let in")
      .option("--banned", "only those that are banned"),
  );
  onServer(io, command, async ({ client, print }, options: ListOptions) => {
    const { type, role, disabled, banned } = options;
    const query = {
      ...{ type, role },
      ...(disabled && { enabled: "false" as const }),
      ...(banned && { banned: "true" as const }),
    };
    const page = await pageOf(options, (place) =>
      client.principals.list({ query: { ...query, ...place } }),
    );
    print(page, ({ items, total }, screen) => {
      if (items.length > 0) return principalTable(items, screen) + nextPage(page);
      return total > 0
        ? `No more: ${total} match in all.\n`
        : "No principals match. See them all: npx engine principals list\n";
    });
  });
  examples(command, [
    "principals list",
    "principals list --type service_account --role operator",
    "principals list --banned --format json",
  ]);
}

/** Of one issuer all are looked through, since a server does not filter by it. */
async function pageOf<Item extends { readonly issuer: string }>(
  options: ListOptions,
  page: Parameters<typeof allPages<Item>>[1],
): ReturnType<typeof allPages<Item>> {
  const { issuer, limit, offset } = options;
  if (issuer === undefined) return allPages(options, page);
  const all = await allPages({ offset: 0 }, page);
  const matching = all.items.filter((item) => item.issuer === issuer);
  const items = matching.slice(offset, limit === undefined ? undefined : offset + limit);
  return { items, total: matching.length, limit: items.length, offset };
}

function addShow(principals: Command, io: CliIo): void {
  const command = principals
    .command("show")
    .description("Shows a principal: whether it may come in, and which roles it has.");
  onPrincipal(io, command, async ({ client, print }, named) =>
    print(await client.principals.get(named), principalView),
  );
  examples(command, ["principals show reports", "principals show gpu-1 --issuer engine:workers"]);
}
