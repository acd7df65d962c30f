import * as z from "zod";
import { listOf, paging } from "../wire/list.ts";
import { grant } from "../wire/permission.ts";
import type { Route } from "../wire/route.ts";
import { CreatedJoinToken, JoinTokenRecord, NewJoinToken } from "../workers/join-token.ts";

const manage = grant("admin:workers:manage");

/** Tokens with which workers come for the first time, each of them once (AUTH-54). */
export const joinTokenRoutes = {
  create: {
    method: "POST",
    path: "/admin/workers/join-tokens",
    summary: "Makes a token with which one worker may join, and shows it this once.",
    permission: manage,
    effect: "write",
    redact: false,
    body: NewJoinToken,
    answers: { 201: CreatedJoinToken },
  },
  list: {
    method: "GET",
    path: "/admin/workers/join-tokens",
    summary: "Lists the join tokens that can still be used, newest first.",
    permission: manage,
    effect: "read",
    query: z.strictObject(paging(1000, 100)),
    answers: { 200: listOf(JoinTokenRecord) },
  },
  revoke: {
    method: "DELETE",
    path: "/admin/workers/join-tokens/{id}",
    summary: "Revokes a join token that can still be used.",
    permission: manage,
    effect: "write",
    answers: { 204: { raw: null, meaning: "nobody joins with it any more" } },
  },
  revokeFor: {
    method: "DELETE",
    path: "/admin/workers/join-tokens",
    summary: "Revokes the join tokens that are for one name.",
    permission: manage,
    effect: "write",
    query: z.strictObject({
      subject: z
        .string()
        .refine((text) => text.trim() !== "", "must not be blank")
        .describe("the worker's name"),
    }),
    answers: { 204: { raw: null, meaning: "nobody joins under that name by them any more" } },
  },
} as const satisfies Record<string, Route>;
