import type { Asked, GuardedServer } from "./guarded-server.ts";

export type Method = "GET" | "POST" | "PUT" | "DELETE";

/** Asks a server by whatever method, as JSON both ways. */
export type Ask = (method: Method, path: string, body?: unknown) => Promise<Asked>;

/** One caller, by its key; nobody without one. */
export function asking({ server }: Pick<GuardedServer, "server">, key?: string): Ask {
  return async (method, path, body) => {
    const response = await fetch(server.url + path, {
      method,
      headers: {
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const { status, headers } = response;
    const text = await response.text();
    return { status, headers, body: text ? JSON.parse(text) : undefined };
  };
}

/** What creates a service account. */
export function service_account(subject: string, roles: readonly string[] = []): object {
  return { subject, type: "service_account", roles };
}

/** Makes a service account with roles and a key; answers the key. */
export async function accountOf(
  ask: Ask,
  subject: string,
  roles: readonly string[],
): Promise<string> {
  await ask("POST", "/admin/principals", service_account(subject, roles));
  return (await ask("POST", `/admin/principals/${subject}/keys`, { name: "k" })).body.key;
}
