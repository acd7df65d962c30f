import { authContradictions, authSwitch, EngineError } from "@engine/contract";
import { verifierProblems } from "@engine/oidc";
import { secretFileProblem } from "@engine/store";
import type { EnginePorts } from "../engine-ports.ts";
import { adminKeyPath } from "./first-admin.ts";

type StartPorts = Pick<EnginePorts, "config" | "store" | "log">;

/** What keeps a server from starting, a line each; asked before its port is bound (AUTH-3). */
export type StartProblems = (ports: StartPorts) => Promise<readonly string[]>;

/**
 * Asks all, so that everything wrong is told at once.
 *
 * @throws EngineError `invalid_input`, a line for each problem.
 */
export async function refuseStartProblems(
  ports: StartPorts,
  checks: readonly StartProblems[],
): Promise<void> {
  const found = await Promise.all(checks.map((problemsOf) => problemsOf(ports)));
  const problems = found.flat();
  if (problems.length === 0) return;
  const issues = problems.map((message) => ({ path: "configuration", message }));
  throw new EngineError("invalid_input", problems.join("\n"), { details: { issues } });
}

/** What is wrong with who is let in. */
export const authProblems: StartProblems = async ({ config, store, log }) => {
  const { auth } = config.security;
  const { isOn, oidc } = authSwitch(auth);
  const problems = [...authContradictions(auth)];
  if (!isOn && config.server.cors_allow_origins.includes("*")) {
    problems.push(
      'engine.server.cors_allow_origins: "*" would let every web page do everything while authorization is off; name the origins',
    );
  }
  if (oidc) problems.push(...oidcProblems(auth.oidc), ...(await roleProblems(auth.oidc, store)));
  const file = secretFileProblem(adminKeyPath(config.home), (message) => log.warn({}, message));
  return file === undefined ? problems : [...problems, file];
};

type OidcTable = StartPorts["config"]["security"]["auth"]["oidc"];

const OIDC = "engine.security.auth.oidc";

function oidcProblems({ issuer, audience, jwks_uri, algorithms }: OidcTable): readonly string[] {
  const missing = Object.entries({ issuer, audience })
    .filter(([, value]) => value === undefined)
    .map(([name]) => `${OIDC}.${name}: needed where oidc is enabled`);
  // Without an issuer the rest is still looked at.
  const settings = { issuer: issuer ?? "https://unset.invalid", audience, jwks_uri, algorithms };
  const wrong = verifierProblems(settings);
  return [...missing, ...wrong.map(({ path, message }) => `${OIDC}.${path}: ${message}`)];
}

async function roleProblems(
  { default_user_roles, role_mapping }: OidcTable,
  store: StartPorts["store"],
): Promise<readonly string[]> {
  const named = { default_user_roles, role_mapping: Object.values(role_mapping) };
  const unknown = await store.identities.unknownRoles(Object.values(named).flat());
  return Object.entries(named).flatMap(([key, roles]) =>
    [...new Set(roles)]
      .filter((role) => unknown.includes(role))
      .map((role) => `${OIDC}.${key}: there is no role ${JSON.stringify(role)}`),
  );
}
