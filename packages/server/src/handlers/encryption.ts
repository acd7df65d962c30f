import type { routes } from "@engine/contract";
import { answer, type Handlers } from "@engine/http";
import type { Engine } from "../engine.ts";

export function encryptionHandlers({
  keyRotation,
}: Pick<Engine, "keyRotation">): Handlers<typeof routes.encryption> {
  return {
    status: async () => answer(200, await keyRotation.status()),
    rotate: async (_, call) => answer(202, await keyRotation.rotate(call)),
  };
}
