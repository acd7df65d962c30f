import type { routes } from "@engine/contract";
import { answer, type Handlers } from "@engine/http";
import type { Engine } from "../engine.ts";
import { toConfig, toShownConfig } from "../secrets/secret-records.ts";
import { isFiltered, visibleNames } from "./subjects.ts";

export function configHandlers({
  configs,
}: Pick<Engine, "configs">): Handlers<typeof routes.configs> {
  return {
    list: async ({ query }, { permit }) => {
      const names = visibleNames(permit.seen("config"));
      const { items, total } = await configs.list({ ...query, names });
      const auth_filtered = isFiltered(names);
      return answer(200, { items: items.map(toConfig), total, ...query, auth_filtered });
    },
    get: async ({ params: { name } }) => answer(200, toShownConfig(await configs.get(name))),
    put: async ({ params: { name }, body }, call) => {
      const { info, isNew } = await configs.put(name, body, call);
      return isNew ? answer(201, toConfig(info)) : answer(200, toConfig(info));
    },
    delete: async ({ params: { name } }, call) => {
      await configs.delete(name, call);
      return answer(204, undefined);
    },
  };
}
