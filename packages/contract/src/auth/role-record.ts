import * as z from "zod";
import { storableText } from "../values/storable-text.ts";
import { Grant } from "./grants.ts";

export const RoleName = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9_-]{0,63}$/,
    "must be 1 to 64 small letters, digits, '_' or '-', beginning with a letter or a digit",
  );

/** A role as reads return it (AUTH-24). */
export const RoleRecord = z.object({
  name: z.string(),
  description: z.string().nullable(),
  /** Sorted. */
  permissions: z.array(z.string()),
  /** The engine's own do not change. */
  built_in: z.boolean(),
  /** Null of the engine's own. */
  created_at: z.string().nullable(),
  updated_at: z.string().nullable(),
  /** A sentence for each grant that no known permission matches. */
  warnings: z.array(z.string()),
});
export type RoleRecord = z.infer<typeof RoleRecord>;

const Description = storableText(2000).nullable();

/** `POST /admin/roles`. */
export const NewRole = z.strictObject({
  name: RoleName,
  permissions: z.array(Grant),
  description: Description.default(null),
});
export type NewRole = z.infer<typeof NewRole>;

/** `PUT /admin/roles/{name}`: all permissions anew, or some more and some less; what is left out stays. */
export const RoleChanges = z
  .strictObject({
    permissions: z.array(Grant).optional().describe("all that it gives from now on"),
    add_permissions: z.array(Grant).optional(),
    remove_permissions: z.array(Grant).optional().describe("after those that are added"),
    description: Description.optional(),
  })
  .refine(
    ({ permissions, add_permissions, remove_permissions }) =>
      permissions === undefined || (add_permissions ?? remove_permissions) === undefined,
    {
      path: ["permissions"],
      error: "pass either permissions, or add_permissions and remove_permissions",
    },
  );
export type RoleChanges = z.infer<typeof RoleChanges>;

/** `POST /admin/roles/{name}/clone`. */
export const RoleClone = z.strictObject({ new_name: RoleName });
