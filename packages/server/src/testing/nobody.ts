import type { AuditedCall } from "../auth/audit-entry.ts";

/** A call of somebody that no log knows, as with authorization off. */
export const NOBODY: AuditedCall = {
  caller: { principal: null },
  action: "test",
  address: undefined,
  request_id: "r",
};

/** That may do what it asks for. */
export const ALLOWED: { readonly allow: () => void; readonly call: AuditedCall } = {
  allow: () => undefined,
  call: NOBODY,
};
