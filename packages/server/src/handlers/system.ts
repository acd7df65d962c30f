import { type Json, openApiDocument, routes } from "@engine/contract";
import { answer, type Handlers } from "@engine/http";
import type { Store } from "@engine/store";

interface Options {
  readonly store: Store;
  readonly version: string;
  /** False while the server starts or stops. */
  readonly isReady: () => boolean;
}

export function systemHandlers({
  store,
  version,
  isReady,
}: Options): Handlers<typeof routes.system> {
  let document: Record<string, Json> | undefined;
  return {
    health: async () => {
      const database = store.kind;
      try {
        await store.ping();
        return answer(200, { status: "healthy" as const, database, version });
      } catch {
        return answer(503, { status: "unhealthy" as const, database, version });
      }
    },
    ready: async () => {
      // A server that cannot write takes no work, whatever state it is in itself.
      const isUp =
        isReady() &&
        (await store.assertWritable().then(
          () => true,
          () => false,
        ));
      return isUp
        ? answer(200, { status: "ready" as const })
        : answer(503, { status: "not_ready" as const });
    },
    openapi: () => {
      document ??= openApiDocument(routes, { title: "Engine", version, server: "/" });
      return answer(200, document);
    },
  };
}
