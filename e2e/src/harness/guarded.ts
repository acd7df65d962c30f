import { readFile } from "node:fs/promises";
import type { EngineAccess } from "./engine-access.ts";
import type { Home } from "./home.ts";
import { Http } from "./http.ts";

/** The environment of servers with authorization on; a key that is no secret of anybody. */
export const GUARDED = {
  ENGINE_SECURITY__AUTH__ENABLED: "true",
  ENGINE_SECURITY__ENCRYPTION__KEY: Buffer.alloc(32, "e2e").toString("base64"),
} as const;

/** What a server with authorization on leaves in its home. */
export async function secretIn(
  home: Pick<Home, "file">,
  name: "admin-key" | "bootstrap-token",
): Promise<string> {
  return (await readFile(home.file(`.engine/${name}`), "utf8")).trim();
}

/** The same server, asked by its first admin. */
export async function asAdmin({ home, url }: Pick<EngineAccess, "home" | "url">): Promise<Http> {
  return new Http(url, await secretIn(home, "admin-key"));
}

/** Makes a service account with a role; answers its key. */
export async function accountOf(admin: Http, subject: string, role: string): Promise<string> {
  const type = "service_account";
  await admin.post("/admin/principals", { subject, type, roles: [role] });
  const { body } = await admin.post<{ key: string }>(`/admin/principals/${subject}/keys`, {
    name: "k",
  });
  return body.key;
}

/** With what a worker joins. */
export async function joining(home: Pick<Home, "file">): Promise<Readonly<Record<string, string>>> {
  return { ENGINE_WORKERS__BOOTSTRAP_TOKEN: await secretIn(home, "bootstrap-token") };
}
