import type { routes } from "@engine/contract";
import { answer, type Handlers } from "@engine/http";
import { auditEntry } from "../auth/audit-entry.ts";
import type { JoinTokens } from "../auth/join-tokens.ts";
import type { EnginePorts } from "../engine-ports.ts";

export function joinTokenHandlers({
  joinTokens,
  ports,
}: {
  readonly joinTokens: JoinTokens;
  readonly ports: Pick<EnginePorts, "clock" | "ids">;
}): Handlers<typeof routes.joinTokens> {
  return {
    create: async ({ body }, call) => {
      const by = call.caller.identity?.subject ?? null;
      const entry = (target: string) => auditEntry(call, { target }, ports);
      return answer(201, await joinTokens.create(body, { by, entry }));
    },
    list: async ({ query }) => answer(200, await joinTokens.list(query)),
    revoke: async ({ params: { id } }, call) => {
      await joinTokens.revoke(id, auditEntry(call, { target: id }, ports));
      return answer(204, undefined);
    },
    revokeFor: async ({ query: { subject } }, call) => {
      await joinTokens.revokeFor(subject, auditEntry(call, { target: subject }, ports));
      return answer(204, undefined);
    },
  };
}
