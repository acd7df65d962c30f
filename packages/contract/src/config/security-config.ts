/** `[engine.security]`: who is let in, what is encrypted, masked, limited and written down. */
import * as z from "zod";
import { seconds, table } from "./config-table.ts";

const text = z.string().min(1);
const rate = (initial: string) =>
  z
    .string()
    .regex(/^(?:|[1-9]\d{0,5}\/minute)$/, {
      error: 'expected "<number>/minute", as "30/minute", or "" for no limit',
    })
    .default(initial);

export const securityTable = table({
  auth: table({
    enabled: z
      .boolean()
      .optional()
      .describe(
        "Whether callers have to say who they are; unset it follows the providers below that are set to true.",
      ),
    task_permissions: z
      .boolean()
      .default(true)
      .describe("Whether running a workflow also takes `:execute` on each of its tasks."),
    cache_ttl: seconds(30).describe("How long a known identity is kept in memory; 0 = not at all."),
    api_keys: table({
      enabled: z
        .boolean()
        .optional()
        .describe("Keys of service accounts; by default on where authorization is."),
    }),
    oidc: table({
      enabled: z.boolean().default(false).describe("Bearer tokens of an OpenID provider."),
      issuer: text.optional().describe("Its issuer: https, or http on this machine."),
      audience: z
        .union([text, z.array(text).min(1)])
        .optional()
        .describe("What `aud` of a token has to contain: one, or any of a list."),
      jwks_uri: text
        .optional()
        .describe("Where its keys are; by default as its discovery document says."),
      algorithms: z
        .array(text)
        .min(1)
        .optional()
        .describe("Signatures that count, of RS, PS and ES 256 to 512 and EdDSA; by default all."),
      jwks_cache: seconds(3600).describe("How long its keys are kept."),
      clock_skew: seconds(30).describe("By how much its clock may differ."),
      client_id: text.default("engine-cli").describe("What `engine auth login` is called there."),
      scopes: z
        .array(text)
        .default(["openid", "profile", "offline_access"])
        .describe("What `engine auth login` asks for."),
      default_user_roles: z
        .array(text)
        .default([])
        .describe("Roles of users who come for the first time; without any they are refused."),
      roles_claim: z
        .string()
        .default("")
        .describe("Claim of a token that lists roles; none unless named."),
      role_mapping: z
        .record(z.string(), text)
        .default({})
        .describe("Value of that claim to role of the engine."),
      initial_admins: z
        .array(text)
        .default([])
        .describe("Subjects that become admin at login while there is none, without API keys."),
    }),
  }),
  execution_tokens: table({
    ttl: seconds(3600, 10).describe("Life of the token with which a task calls the engine."),
  }),
  encryption: table({
    key: text.optional().describe("Base64 of 32 bytes; `key_file` or `keys` instead of it."),
    key_file: text
      .optional()
      .describe("File with that; with SQLite by default `<home>/encryption-key`, made at need."),
    keys: z
      .record(z.string().regex(/^[A-Za-z0-9_-]{1,64}$/), text)
      .optional()
      .describe("Several keys by id, for rotation; `primary` encrypts, all decrypt."),
    primary: text.optional().describe("Id of the key of `keys` that encrypts."),
  }),
  redaction: table({
    enabled: z
      .boolean()
      .default(true)
      .describe("Whether values of secrets are masked in whatever is read or logged."),
    progress: z.boolean().default(true).describe("Whether they are in progress, too."),
  }),
  rate_limits: table({
    register: rate("30/minute").describe("Registrations of workers, per client address."),
    auth_failures: rate("60/minute").describe("Refused credentials, per client address."),
    test_token: rate("10/minute").describe("Calls of `POST /auth/test-token`, per principal."),
  }),
  audit: table({
    reads: z.boolean().default(false).describe("Whether reads that were allowed are kept, too."),
  }),
});
