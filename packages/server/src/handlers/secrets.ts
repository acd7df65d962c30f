import type { routes } from "@engine/contract";
import { answer, type Handlers } from "@engine/http";
import type { Engine } from "../engine.ts";
import { toSecret, toShownSecret } from "../secrets/secret-records.ts";
import { isFiltered, visibleNames } from "./subjects.ts";

export function secretHandlers({
  secrets,
}: Pick<Engine, "secrets">): Handlers<typeof routes.secrets> {
  return {
    list: async ({ query }, { permit }) => {
      const names = visibleNames(permit.seen("secret"));
      const { items, total } = await secrets.list({ ...query, names });
      const auth_filtered = isFiltered(names);
      return answer(200, { items: items.map(toSecret), total, ...query, auth_filtered });
    },
    get: async ({ params: { name } }, call) =>
      answer(200, toShownSecret(await secrets.get(name, call))),
    put: async ({ params: { name }, body }, call) => {
      const { info, isNew } = await secrets.put(name, body, call);
      return isNew ? answer(201, toSecret(info)) : answer(200, toSecret(info));
    },
    delete: async ({ params: { name } }, call) => {
      await secrets.delete(name, call);
      return answer(204, undefined);
    },
  };
}
