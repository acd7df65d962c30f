import type { Answer, routes } from "@engine/contract";
import type { Command } from "commander";
import { neverAnArgument, readHidden, stdinOption } from "../../arguments/hidden-value.ts";
import { examples } from "../../examples.ts";
import { Reported } from "../../io/cli-error.ts";
import type { CliIo } from "../../io/cli-io.ts";
import type { Screen } from "../../render/paint.ts";
import { lines, titled } from "../../render/table.ts";
import { onServer, type ServerOptions } from "../../server-call.ts";

interface TestOptions extends ServerOptions {
  readonly stdin?: boolean;
}

type Tested = Answer<typeof routes.auth.testToken>["body"];

export function addTestToken(auth: Command, io: CliIo): void {
  const command = auth
    .command("test-token")
    .summary("Says whose a token is, or why it is refused.")
    .description(
      "Says whose a token is, and what it may do, or why it is refused; exits 1 when it is. The token is asked for and not shown, or comes on standard input. Nobody is logged in by it. Takes admin:principals:read.",
    );
  stdinOption(command);
  neverAnArgument(command, "token", "it is asked for, or comes on standard input: < FILE");
  onServer(io, command, async ({ client, print }, { stdin }: TestOptions) => {
    const token = (await readHidden(io, { what: "token", stdin })).trim();
    const answer = await client.auth.testToken({ body: { token } });
    print(answer, testedView);
    if (!answer.valid) throw new Reported();
  });
  examples(command, ["auth test-token", "auth test-token --stdin < key.txt"]);
}

function testedView(tested: Tested, { paint }: Screen): string {
  if (!tested.valid) {
    const why = REASONS[tested.reason] ?? tested.reason;
    return lines([`${paint("failed", "✗ not valid")}  ${why}`]);
  }
  const { subject, issuer, roles, permissions, expires_at } = tested;
  return titled(paint, `${paint("running", "✓ valid")}  ${paint("strong", subject)}`, [
    ["issuer", issuer],
    ["roles", roles.join(", ") || "none"],
    ["may", permissions.join("\n") || "nothing"],
    ["expires", expires_at ?? "never"],
  ]);
}

/** By the reasons with which the token would be refused (AUTH-9). */
const REASONS: Readonly<Record<string, string>> = {
  malformed: "it has the shape of no token",
  invalid: "no such token counts here: unknown, revoked, or signed by somebody else",
  expired: "it has expired",
  disabled: "its principal is disabled",
  banned: "its principal is banned",
  not_provisioned: "nobody has let its user in",
  credential_kind: "a token of its kind is proven by its use alone",
  auth_disabled: "authorization is off here, so no token is looked at",
};
