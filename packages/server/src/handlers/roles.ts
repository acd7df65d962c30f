import type { routes } from "@engine/contract";
import { answer, type Handlers } from "@engine/http";
import { toRole } from "../auth/identity-records.ts";
import type { Engine } from "../engine.ts";

export function roleHandlers({ roles }: Pick<Engine, "roles">): Handlers<typeof routes.roles> {
  return {
    list: async ({ query }) => {
      const { items, total } = await roles.list(query);
      return answer(200, { items: items.map(toRole), total, ...query });
    },
    get: async ({ params: { name } }) => answer(200, toRole(await roles.get(name))),
    create: async ({ body }, call) => answer(201, toRole(await roles.create(body, call))),
    clone: async ({ params: { name }, body }, call) =>
      answer(201, toRole(await roles.clone(name, body.new_name, call))),
    update: async ({ params: { name }, body }, call) =>
      answer(200, toRole(await roles.change(name, body, call))),
    delete: async ({ params: { name }, query: { force = false } }, call) => {
      await roles.delete(name, { force }, call);
      return answer(204, undefined);
    },
  };
}
