import * as z from "zod";
import { isName, NAME_RULE, parseWorkflowName } from "../values/name.ts";
import { paging, QueryFlag } from "../wire/list.ts";
import { HOOK_NAME_PATTERN, HOOK_NAME_RULE, RESERVED_HOOK_NAME } from "./hook-name.ts";

/** Most selectors that a hook may have, and how long each may be (HOOK-1). */
export const MOST_HOOK_SELECTORS = 64;
export const LONGEST_SELECTOR = 512;

/** A name that a hook may be given; it never changes. */
export const HookName = z
  .string()
  .regex(HOOK_NAME_PATTERN, `must be ${HOOK_NAME_RULE}`)
  .refine((name) => name !== RESERVED_HOOK_NAME, {
    error: `${RESERVED_HOOK_NAME} is reserved: grants for deliveries have it in the place of a name`,
  });

/** As they are given: what is none and repeats are a matter of `parseHookSelectors`, which knows their places. */
const Selectors = z.array(z.string().max(LONGEST_SELECTOR)).min(1).max(MOST_HOOK_SELECTORS);

/** `<namespace>/<name>`; a bare name is one of namespace `default`, and is kept qualified. */
export const TargetWorkflow = z.string().transform((given, context) => {
  const parsed = parseWorkflowName(given);
  if (parsed) return `${parsed.namespace}/${parsed.name}`;
  const message = `must be <namespace>/<name>, or a name alone for one of namespace default; each is ${NAME_RULE}`;
  context.addIssue({ code: "custom", message, input: given });
  return z.NEVER;
});

/** Subject of a service account; the caller always states it. */
export const HookPrincipal = z
  .string()
  .regex(/^[A-Za-z0-9_.@-]{1,256}$/, "must be 1 to 256 letters, digits, '_', '.', '@' or '-'");

/** How often a delivery may fail. */
export const MaxHookAttempts = z.int().min(1).max(100);
export const DEFAULT_HOOK_ATTEMPTS = 5;

/** Who declares a hook: a request, or the `hooks` of a workflow or an agent. */
export const HookOwnerType = z.enum(["user", "workflow", "agent"]);
export type HookOwnerType = z.infer<typeof HookOwnerType>;

/** A hook as reads return it (HOOK-1). */
export const HookRecord = z.object({
  id: z.string(),
  name: z.string(),
  enabled: z.boolean(),
  /** An event that any of them matches fires it. */
  selectors: z.array(z.string()),
  /** What it runs: `<namespace>/<name>`. */
  workflow: z.string(),
  /** The service account that runs it. */
  principal: z.string(),
  /** Tries of a delivery that fail before it is dead. */
  max_attempts: z.int(),
  owner_type: HookOwnerType,
  /** `<namespace>/<name>` of a workflow, or the name of an agent; null of a user's. */
  owner_ref: z.string().nullable(),
  created_at: z.string(),
  /** Subject of whoever made it; null without authorization. */
  created_by: z.string().nullable(),
  /** Moves only when a value changed, and so does `updated_by`. */
  updated_at: z.string(),
  updated_by: z.string().nullable(),
});
export type HookRecord = z.infer<typeof HookRecord>;

/** What would stop a delivery now (HOOK-2). */
export const HookProblem = z.enum([
  "hooks_disabled",
  "hook_disabled",
  "target_not_found",
  "principal_not_found",
  "principal_not_service_account",
  "principal_banned",
  "principal_disabled",
  "principal_not_permitted",
]);
export type HookProblem = z.infer<typeof HookProblem>;

/** How a hook is doing. */
export const HookStatus = z.object({
  /** Deliveries that wait. */
  pending: z.int().nonnegative(),
  /** Deliveries that were given up. */
  dead: z.int().nonnegative(),
  last_delivered_at: z.string().nullable(),
  /** Empty: the next delivery would start its target. */
  problems: z.array(HookProblem),
});
export type HookStatus = z.infer<typeof HookStatus>;

/** `GET /hooks/{name}`. */
export const DetailedHook = HookRecord.extend({ status: HookStatus });
export type DetailedHook = z.infer<typeof DetailedHook>;

/** `POST /hooks`. */
export const NewHook = z.strictObject({
  name: HookName,
  selectors: Selectors.describe(
    "as `execution:<namespace>:<workflow>:<state>`; any of them fires it",
  ),
  workflow: TargetWorkflow.describe("what it runs: `<namespace>/<name>`"),
  principal: HookPrincipal.describe("subject of the service account that runs it"),
  max_attempts: MaxHookAttempts.default(DEFAULT_HOOK_ATTEMPTS).describe(
    "tries that fail before a delivery is dead",
  ),
  enabled: z.boolean().default(true),
});
export type NewHook = z.infer<typeof NewHook>;

/** `PUT /hooks/{name}`: what is left out stays (HOOK-37). */
export const HookUpdate = z.strictObject({
  selectors: Selectors.optional().describe("replaces the list"),
  workflow: TargetWorkflow.optional(),
  principal: HookPrincipal.optional(),
  max_attempts: MaxHookAttempts.optional(),
  enabled: z.boolean().optional(),
});
export type HookUpdate = z.infer<typeof HookUpdate>;

/** `GET /hooks`, by name. */
export const HookQuery = z.strictObject({
  enabled_only: QueryFlag.optional().describe("leaves out those that are disabled"),
  owner_type: HookOwnerType.optional().describe("only those declared by one of these"),
  owner_ref: z
    .string()
    .refine((ref) => ref.split("/").every(isName), "must be <namespace>/<name>, or an agent's name")
    .optional()
    .describe("only those of this workflow, `<namespace>/<name>`, or agent"),
  ...paging(1_000, 200),
});
export type HookQuery = z.infer<typeof HookQuery>;
