import type { routes } from "@engine/contract";
import { answer, type Handlers } from "@engine/http";
import { toCreatedKey, toKey, toPrincipal } from "../auth/identity-records.ts";
import type { PrincipalName } from "../auth/principal-rules.ts";
import type { Engine } from "../engine.ts";

export function principalHandlers({
  principals,
  apiKeys,
}: Pick<Engine, "principals" | "apiKeys">): Handlers<typeof routes.principals> {
  return {
    list: async ({ query }) => {
      const { items, total } = await principals.list(query);
      const { limit, offset } = query;
      return answer(200, { items: items.map(toPrincipal), total, limit, offset });
    },
    get: async (input) => answer(200, toPrincipal(await principals.get(named(input)))),
    create: async ({ body }, call) => answer(201, toPrincipal(await principals.create(body, call))),
    update: async (input, call) =>
      answer(200, toPrincipal(await principals.change(named(input), input.body, call))),
    enable: async (input, call) =>
      answer(200, toPrincipal(await principals.enable(named(input), call))),
    disable: async (input, call) =>
      answer(200, toPrincipal(await principals.disable(named(input), call))),
    ban: async (input, call) => {
      const reason = input.body?.reason ?? null;
      return answer(200, toPrincipal(await principals.ban(named(input), reason, call)));
    },
    unban: async (input, call) =>
      answer(200, toPrincipal(await principals.unban(named(input), call))),
    delete: async (input, call) => {
      const { force = false } = input.query;
      await principals.delete(named(input), { force }, call);
      return answer(204, undefined);
    },
    grantRole: async (input, call) =>
      answer(200, toPrincipal(await principals.grantRole(named(input), input.body.role, call))),
    revokeRole: async (input, call) => {
      await principals.revokeRole(named(input), input.params.role, call);
      return answer(204, undefined);
    },
    createKey: async (input, call) =>
      answer(201, toCreatedKey(await apiKeys.create(named(input), input.body, call))),
    listKeys: async (input) => {
      const { limit, offset } = input.query;
      const { items, total } = await apiKeys.list(named(input), { limit, offset });
      return answer(200, { items: items.map(toKey), total, limit, offset });
    },
    revokeKey: async (input, call) => {
      await apiKeys.revoke(named(input), input.params.key_name, call);
      return answer(204, undefined);
    },
  };
}

function named({
  params: { subject },
  query: { issuer },
}: {
  readonly params: { readonly subject: string };
  readonly query: { readonly issuer?: string | undefined };
}): PrincipalName {
  return { subject, issuer };
}
