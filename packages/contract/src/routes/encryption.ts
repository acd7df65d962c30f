import { EncryptionStatus } from "../secrets/secret.ts";
import { grant } from "../wire/permission.ts";
import type { Route } from "../wire/route.ts";

const manage = grant("admin:encryption:manage");

/** The keys that everything sealed is under (SEC-3). */
export const encryptionRoutes = {
  status: {
    method: "GET",
    path: "/admin/encryption",
    summary: "Says which keys there are, and how much is stored under each.",
    permission: manage,
    effect: "read",
    answers: { 200: EncryptionStatus },
  },
  rotate: {
    method: "POST",
    path: "/admin/encryption/rotate",
    summary:
      "Begins to wrap every data key with the primary key; it can be asked for again at any time.",
    permission: manage,
    effect: "write",
    answers: { 202: EncryptionStatus },
  },
} as const satisfies Record<string, Route>;
