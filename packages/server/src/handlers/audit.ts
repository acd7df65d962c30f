import type { routes } from "@engine/contract";
import { answer, type Handlers } from "@engine/http";
import type { Store } from "@engine/store";

export function auditHandlers({ audit }: Pick<Store, "audit">): Handlers<typeof routes.audit> {
  return {
    list: async ({ query }) => {
      const { items, total } = await audit.list(query);
      const { limit, offset } = query;
      return answer(200, { items: [...items], total, limit, offset });
    },
  };
}
