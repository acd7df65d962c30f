import type { AuditEntry, routes } from "@engine/contract";
import { answer, type Call, type Handlers } from "@engine/http";
import { auditEntry } from "../auth/audit-entry.ts";
import type { Engine } from "../engine.ts";
import type { EnginePorts } from "../engine-ports.ts";
import { isFiltered, visibleNames } from "./subjects.ts";

export function fleetHandlers(
  { fleet }: Engine,
  ports: Pick<EnginePorts, "clock" | "ids">,
): Handlers<typeof routes.fleet> {
  return {
    list: async ({ query: { label: labels, ...query } }, { permit }) => {
      const names = visibleNames(permit.seen("worker"));
      const page = await fleet.list({ ...query, labels, names });
      return answer(200, { ...page, auth_filtered: isFiltered(names) });
    },
    show: async ({ params }) => answer(200, await fleet.show(params.name)),
    pause: async ({ params: { name } }, call) =>
      answer(200, await fleet.pause(name, entry(name, call))),
    resume: async ({ params: { name } }, call) =>
      answer(200, await fleet.resume(name, entry(name, call))),
    drain: async ({ params: { name }, body }, call) =>
      answer(202, await fleet.drain(name, body?.timeout_seconds, entry(name, call))),
    delete: async ({ params: { name } }, call) => {
      await fleet.delete(name, entry(name, call));
      return answer(204, undefined);
    },
  };

  function entry(target: string, call: Call): AuditEntry {
    return auditEntry(call, { target }, ports);
  }
}
