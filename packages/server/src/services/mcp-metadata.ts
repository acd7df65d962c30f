import { notFound, type ResourceMetadata, routes, SERVICE_NAME_PATTERN } from "@engine/contract";

interface Parts {
  /** Where clients reach the server, without a slash at the end; known once it listens. */
  readonly base: () => string;
  /** Of the OpenID provider whose tokens are taken; undefined where none are. */
  readonly issuer: string | undefined;
}

/** Where the MCP endpoints of services are found, and where clients of theirs get tokens (MCA-9). */
export class McpMetadata {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The address of a service's endpoint. */
  endpointOf(service: string): string {
    return this.#at(routes.services.mcp.path, service);
  }

  /**
   * The document of RFC 9728, the same whether there is such a service: anybody may ask.
   *
   * @throws EngineError `not_found`
   */
  of(service: string): ResourceMetadata {
    const { issuer } = this.#parts;
    if (issuer === undefined || !SERVICE_NAME_PATTERN.test(service)) {
      throw notFound("route", "of this name, since no OpenID provider is configured");
    }
    return {
      resource: this.endpointOf(service),
      authorization_servers: [issuer],
      bearer_methods_supported: ["header"],
      resource_name: service,
    };
  }

  /**
   * Where a client that was not let in finds that document; undefined where there is none.
   *
   * @param action The refused row, as `services.mcp`.
   */
  ofRefused(action: string, params: Readonly<Record<string, string>>): string | undefined {
    const { service } = params;
    if (action !== "services.mcp" || this.#parts.issuer === undefined) return undefined;
    return service === undefined ? undefined : this.#at(routes.services.metadata.path, service);
  }

  #at(path: string, service: string): string {
    return this.#parts.base() + path.replace("{service}", encodeURIComponent(service));
  }
}
