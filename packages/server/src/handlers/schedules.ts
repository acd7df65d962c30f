import type { routes } from "@engine/contract";
import type { Handlers } from "@engine/http";
import { answer } from "@engine/http";
import type { Engine } from "../engine.ts";
import { toRecord } from "../executions/record.ts";
import { rowAsCreated } from "../executions/row-after.ts";
import { toSchedule, toScheduleRun } from "../schedules/schedule-record.ts";
import { addressOf } from "./run-answer.ts";

export function scheduleHandlers({
  schedules,
}: Pick<Engine, "schedules">): Handlers<typeof routes.schedules> {
  return {
    create: async ({ body }) => answer(201, toSchedule(await schedules.create(body))),
    list: async ({ query }) => {
      const { items, total } = await schedules.list(query);
      const { limit, offset } = query;
      return answer(200, { items: items.map(toSchedule), total, limit, offset });
    },
    get: async ({ params: { name } }) => answer(200, toSchedule(await schedules.get(name))),
    update: async ({ params: { name }, body }) =>
      answer(200, toSchedule(await schedules.change(name, body))),
    delete: async ({ params: { name } }) => {
      await schedules.delete(name);
      return answer(204, undefined);
    },
    pause: async ({ params: { name } }) => answer(200, toSchedule(await schedules.pause(name))),
    resume: async ({ params: { name } }) => answer(200, toSchedule(await schedules.resume(name))),
    trigger: async ({ params: { name } }) => {
      const row = rowAsCreated(await schedules.trigger(name));
      return answer(202, toRecord(row), addressOf(row));
    },
    history: async ({ params: { name }, query }) => {
      const { items, total } = await schedules.history(name, query);
      return answer(200, { items: items.map(toScheduleRun), total, ...query });
    },
  };
}
