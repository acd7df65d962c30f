import type { routes } from "@engine/contract";
import { answer, type Handlers } from "@engine/http";
import type { Engine } from "../engine.ts";
import { isFiltered, visibleNames } from "./subjects.ts";

export function fleetHandlers({ fleet }: Engine): Handlers<typeof routes.fleet> {
  return {
    list: async ({ query: { label: labels, ...query } }, { permit }) => {
      const names = visibleNames(permit.seen("worker"));
      const page = await fleet.list({ ...query, labels, names });
      return answer(200, { ...page, auth_filtered: isFiltered(names) });
    },
    show: async ({ params }) => answer(200, await fleet.show(params.name)),
    pause: async ({ params }) => answer(200, await fleet.pause(params.name)),
    resume: async ({ params }) => answer(200, await fleet.resume(params.name)),
    drain: async ({ params, body }) =>
      answer(202, await fleet.drain(params.name, body?.timeout_seconds)),
    delete: async ({ params }) => {
      await fleet.delete(params.name);
      return answer(204, undefined);
    },
  };
}
