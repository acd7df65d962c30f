import { expect, test } from "vitest";
import { type Asked, guardedServer } from "../auth/testing/guarded-server.ts";

const SOURCE = `import { task, workflow } from "@engine/sdk";
const pay = task({ name: "pay", secrets: ["BANK"] }, async () => 1);
export const pays = workflow({ name: "pays", secrets: ["SHARED"] }, async () => pay());
`;

/** What an account that holds these is answered when it registers the source. */
async function registering(...permissions: string[]): Promise<Asked & { versions: number }> {
  const { ask, adminKey } = await guardedServer();
  const made = async (path: string, body: object) => {
    const { status, body: answer } = await ask(path, adminKey, body);
    expect([path, status]).toEqual([path, 201]);
    return answer;
  };
  await made("/admin/roles", { name: "author", permissions });
  await made("/admin/principals", {
    ...{ subject: "ada", type: "service_account", roles: ["author"] },
  });
  const { key } = await made("/admin/principals/ada/keys", { name: "k" });
  const asked = await ask("/workflows", key, { source: SOURCE });
  const { body } = await ask("/workflows/default/pays/versions", adminKey);
  return { ...asked, versions: body.total ?? 0 };
}

const REGISTER = "workflow:*:*:register";

test("SEC-7 whoever may not use a secret registers nothing that declares it, and is told of all that lack", async () => {
  const { status, body, versions } = await registering(REGISTER);
  expect([status, versions]).toEqual([403, 0]);
  const { missing_permissions } = body.error.details;
  expect(missing_permissions).toEqual(["secret:SHARED:use", "secret:BANK:use"]);
});

test("SEC-7 the right to one secret is none to another", async () => {
  const { status, body } = await registering(REGISTER, "secret:SHARED:use");
  expect([status, body.error.details.missing_permissions]).toEqual([403, ["secret:BANK:use"]]);
});

test("SEC-7 whoever may use all of them registers, and is warned of those that do not exist yet", async () => {
  const { status, body, versions } = await registering(REGISTER, "secret:*:use");
  expect([status, versions]).toEqual([201, 1]);
  expect(body.warnings.map(({ rule }: { rule: string }) => rule)).toEqual([
    "secret_unknown",
    "secret_unknown",
  ]);
});
