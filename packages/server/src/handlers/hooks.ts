import { DeliveryRetry, PENDING_DROPPED_HEADER, type routes } from "@engine/contract";
import { answer, type Call, type Handlers } from "@engine/http";
import type { FullDelivery } from "@engine/store";
import type { Engine } from "../engine.ts";
import {
  toDeliveryRecord,
  toDetailedDelivery,
  toDetailedHook,
  toHookRecord,
} from "../hooks/hook-record.ts";
import type { AskedFor } from "../hooks/hooks.ts";

export function hookHandlers({ hooks }: Pick<Engine, "hooks">): Handlers<typeof routes.hooks> {
  return {
    create: async ({ body }, call) =>
      answer(201, toHookRecord(await hooks.create(body, askedBy(call)))),
    list: async ({ query }) => {
      const { items, total } = await hooks.list(query);
      const { limit, offset } = query;
      return answer(200, { items: items.map(toHookRecord), total, limit, offset });
    },
    get: async ({ params: { name } }) => answer(200, toDetailedHook(await hooks.state(name))),
    update: async ({ params: { name }, body }, call) =>
      answer(200, toHookRecord(await hooks.update(name, body, askedBy(call)))),
    delete: async ({ params: { name } }, call) => {
      const dropped = await hooks.delete(name, call);
      return answer(204, undefined, { [PENDING_DROPPED_HEADER]: `${dropped}` });
    },
    test: async ({ params: { name }, body }, call) =>
      answer(202, await hooks.test(name, body ?? {}, askedBy(call))),
    deliveries: async ({ params: { name }, query }) => {
      const { items, total } = await hooks.deliveries(name, query);
      const { limit, offset } = query;
      return answer(200, { items: items.map(toDeliveryRecord), total, limit, offset });
    },
    delivery: async ({ params: { name, delivery_id } }, call) => {
      const row = await hooks.delivery(name, delivery_id);
      return answer(200, toDetailedDelivery(row, mayReadEvent(row, call)));
    },
    retry: async ({ params: { name, delivery_id } }, call) =>
      answer(200, toDeliveryRecord(await hooks.retry(name, delivery_id, askedBy(call)))),
    retryMany: async ({ params: { name }, body }, call) => {
      const asked = body ?? DeliveryRetry.parse({});
      return answer(200, await hooks.retryMany(name, asked, askedBy(call)));
    },
  };
}

/** Every request about a hook says which account it needs, if only that it needs none (HOOK-40). */
function askedBy(call: Call): AskedFor {
  return { call, allow: (principal) => call.permit.demand({ principal }) };
}

/** What an event holds is for readers of the workflow that it is of (HOOK-3). */
function mayReadEvent({ source_workflow }: FullDelivery, { caller: { rights } }: Call): boolean {
  return rights?.holds(`workflow:${source_workflow.replace("/", ":")}:read`) ?? true;
}
