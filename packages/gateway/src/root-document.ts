import { isReserved } from "./gateway-path.ts";

/**
 * The OpenAPI document of a service as the gateway serves it: paths at the root, and the gateway as
 * the server (GW-6). A workflow whose name is reserved stays below the service, where it is reached.
 *
 * @param base Where clients find the gateway.
 */
export function rootDocument(
  document: Readonly<Record<string, unknown>>,
  { service, base }: { readonly service: string; readonly base: string },
): Readonly<Record<string, unknown>> {
  const { paths } = document;
  return {
    ...document,
    servers: [{ url: base }],
    ...(isRecord(paths) && { paths: atRoot(paths, service) }),
  };
}

function atRoot(
  paths: Readonly<Record<string, unknown>>,
  service: string,
): Record<string, unknown> {
  const prefix = `/services/${service}/`;
  return Object.fromEntries(
    Object.entries(paths).map(([path, item]) => {
      const below = path.startsWith(prefix) ? path.slice(prefix.length) : undefined;
      const [name = ""] = below?.split("/", 1) ?? [];
      return [below === undefined || isReserved(name) ? path : `/${below}`, item];
    }),
  );
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
