import {
  bucketView,
  formatInstant,
  invalidField,
  isName,
  type LimitRecord,
  NAME_RULE,
  notFound,
  type routes,
} from "@engine/contract";
import { answer, type Handlers } from "@engine/http";
import type { LimitRow } from "@engine/store";
import { auditEntry } from "../auth/audit-entry.ts";
import type { Engine } from "../engine.ts";
import type { EnginePorts } from "../engine-ports.ts";

const SHOWN_HOLDERS = 100;

export function limitHandlers(
  { limits }: Pick<Engine, "limits">,
  ports: Pick<EnginePorts, "store" | "clock" | "ids">,
): Handlers<typeof routes.limits> {
  const { store } = ports;
  return {
    put: async ({ params: { name }, body: { concurrency = null, rate } }, call) => {
      assertName(name);
      const definition = {
        concurrency,
        rate: rate ? { count: rate.count, period_ms: rate.period_seconds * 1000 } : null,
      };
      const row = await store.limits.set(
        name,
        definition,
        auditEntry(call, { target: name }, ports),
      );
      limits.changed(name);
      return answer(200, recordOf(row));
    },
    list: async ({ query }) => {
      const { items, total } = await store.limits.list(query);
      return answer(200, { items: items.map(recordOf), total, ...query });
    },
    get: async ({ params: { name } }) => {
      assertName(name);
      const row = await store.limits.find(name);
      if (!row) throw notFound("limit", name);
      const { items, total } = await store.limits.holders(name, {
        limit: SHOWN_HOLDERS,
        offset: 0,
      });
      const holders = items.map(({ bucket, execution_id, claimed_at }) => ({
        execution_id,
        key: bucketView(bucket).key,
        since: formatInstant(claimed_at),
      }));
      return answer(200, { ...recordOf(row), held: total, holders });
    },
    delete: async ({ params: { name } }, call) => {
      assertName(name);
      const isDeleted = await store.limits.delete(name, auditEntry(call, { target: name }, ports));
      if (!isDeleted) throw notFound("limit", name);
      limits.changed(name);
      return answer(204, undefined);
    },
  };
}

function assertName(name: string): void {
  if (!isName(name)) throw invalidField("path.name", `must be ${NAME_RULE}`);
}

function recordOf({ rate, created_at, updated_at, ...row }: LimitRow): LimitRecord {
  return {
    ...row,
    rate: rate && { count: rate.count, period_seconds: rate.period_ms / 1000 },
    created_at: formatInstant(created_at),
    updated_at: formatInstant(updated_at),
  };
}
