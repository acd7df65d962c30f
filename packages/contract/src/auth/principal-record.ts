import * as z from "zod";
import { storableText } from "../values/storable-text.ts";
import { ENGINE_ISSUER, PrincipalType, WORKER_ISSUER } from "./principal.ts";
import { RoleName } from "./role-record.ts";

/** A principal as reads return it (AUTH-19). */
export const PrincipalRecord = z.object({
  id: z.string(),
  type: PrincipalType,
  subject: z.string(),
  issuer: z.string(),
  display_name: z.string().nullable(),
  enabled: z.boolean(),
  /** A banned one is disabled, too, and has no credentials. */
  banned: z.boolean(),
  ban_reason: z.string().nullable(),
  /** Sorted; also those that claims of a login gave. */
  roles: z.array(z.string()),
  created_at: z.string(),
  updated_at: z.string(),
  last_seen_at: z.string().nullable(),
});
export type PrincipalRecord = z.infer<typeof PrincipalRecord>;

const SERVICE_ACCOUNT = /^[A-Za-z0-9_][A-Za-z0-9_.@-]{0,127}$/;
/** Whom requests without a credential come from, with authorization off (AUTH-18). */
const RESERVED_SUBJECT = "anonymous";
const Subject = z
  .string()
  .regex(/^\P{Cc}{1,255}$/u, "must be 1 to 255 characters without control characters");
const DisplayName = storableText(200).nullable();

/** `POST /admin/principals`; workers come by registration alone. */
export const NewPrincipal = z
  .strictObject({
    subject: Subject,
    type: PrincipalType.exclude(["worker"]),
    issuer: z
      .string()
      .optional()
      .describe("of a user: by default the configured provider; of a service account `engine`"),
    display_name: DisplayName.default(null),
    roles: z.array(RoleName).default([]),
  })
  .superRefine(({ subject, type, issuer }, context) => {
    const refuse = (path: string, message: string, input: unknown) =>
      context.addIssue({ code: "custom", path: [path], message, input });
    if (subject === RESERVED_SUBJECT) {
      refuse(
        "subject",
        `${RESERVED_SUBJECT} is reserved for callers without a credential`,
        subject,
      );
    }
    if (type === "service_account" && !SERVICE_ACCOUNT.test(subject)) {
      refuse(
        "subject",
        "of a service account must be 1 to 128 letters, digits, '_', '.', '@' or '-', beginning with a letter, a digit or '_'",
        subject,
      );
    }
    if (issuer !== undefined && !isIssuerOf(type, issuer)) {
      const expected = type === "user" ? "must be the URL of a provider" : "must be engine";
      refuse("issuer", `of a ${type} ${expected}`, issuer);
    }
  });
export type NewPrincipal = z.infer<typeof NewPrincipal>;

function isIssuerOf(type: PrincipalType, issuer: string): boolean {
  if (type === "user") return /^https?:\/\/[^\s\p{Cc}]{1,2000}$/iu.test(issuer);
  return issuer === (type === "worker" ? WORKER_ISSUER : ENGINE_ISSUER);
}

/** `PUT /admin/principals/{subject}`: what is left out stays. */
export const PrincipalChanges = z.strictObject({
  display_name: DisplayName.optional(),
  enabled: z.boolean().optional(),
});
export type PrincipalChanges = z.infer<typeof PrincipalChanges>;

export const Ban = z.strictObject({ reason: storableText(2000).nullable().optional() });
