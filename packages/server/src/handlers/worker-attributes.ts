import {
  type AuditEntry,
  invalidField,
  isAttributeKey,
  isServiceName,
  keyRule,
  type routes,
  SERVICE_RULE,
  withGrants,
  withMetadata,
  withoutGrant,
  withoutMetadata,
} from "@engine/contract";
import { answer, type Call, type Handlers } from "@engine/http";
import { auditEntry } from "../auth/audit-entry.ts";
import type { Engine } from "../engine.ts";
import type { EnginePorts } from "../engine-ports.ts";

export function workerAttributeHandlers(
  { attributes }: Pick<Engine, "attributes">,
  ports: Pick<EnginePorts, "clock" | "ids">,
): Handlers<typeof routes.workerAttributes> {
  return {
    putMetadata: async ({ params: { name }, body }, call) => {
      const row = await attributes.change(name, withMetadata(body), entry(name, call));
      return answer(200, { metadata: row.attributes.metadata });
    },
    getMetadata: async ({ params: { name } }) => {
      const { metadata } = (await attributes.show(name)).attributes;
      return answer(200, { metadata });
    },
    clearMetadata: async ({ params: { name } }, call) => {
      await attributes.change(name, withoutMetadata(), entry(name, call));
      return answer(204, undefined);
    },
    removeMetadata: async ({ params: { name, key } }, call) => {
      if (!isAttributeKey("meta", key)) throw invalidField("path.key", keyRule("meta"));
      await attributes.change(name, withoutMetadata(key), entry(name, call));
      return answer(204, undefined);
    },
    listServices: async ({ params: { name } }) => {
      const { session, attributes: held } = await attributes.show(name);
      const offered = [...(session?.services ?? [])];
      return answer(200, { offered, granted: [...held.granted] });
    },
    grantService: async ({ params: { name, service } }, call) => {
      assertService(service);
      await attributes.change(name, withGrants([service]), entry(name, call));
      return answer(204, undefined);
    },
    revokeService: async ({ params: { name, service } }, call) => {
      assertService(service);
      await attributes.change(name, withoutGrant(service), entry(name, call));
      return answer(204, undefined);
    },
  };

  function entry(target: string, call: Call): AuditEntry {
    return auditEntry(call, { target }, ports);
  }
}

function assertService(service: string): void {
  if (!isServiceName(service)) throw invalidField("path.service", SERVICE_RULE);
}
