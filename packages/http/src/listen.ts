import type { AddressInfo, Server } from "node:net";
import { Server as TlsServer } from "node:tls";
import { EngineError } from "@engine/contract";

export interface Address {
  readonly host: string;
  /** 0 takes any that is free. */
  readonly port: number;
}

/** What can be told to listen; every app can. */
export interface Listener {
  readonly server: Server;
  listen(address: Address): Promise<unknown>;
}

export interface Listening {
  readonly port: number;
  /** Where clients on this machine reach it. */
  readonly url: string;
}

/** @throws EngineError `conflict` when the address cannot be had. */
export async function listen(app: Listener, { host, port }: Address): Promise<Listening> {
  try {
    await app.listen({ host, port });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const at = `${host}:${port}`;
    const reasons: Readonly<Record<string, string>> = {
      EADDRINUSE: `${at} is in use by another process; choose another port with --port`,
      EACCES: `${at} may not be opened by this user; choose a port from 1024 with --port`,
      EADDRNOTAVAIL: `${at} is not an address of this machine; choose another with --host`,
      ENOTFOUND: `${at} names a host that is not known; choose another with --host`,
    };
    const message = reasons[code ?? ""];
    if (message === undefined) throw cause;
    throw new EngineError("conflict", message, { cause });
  }
  const { port: taken } = app.server.address() as AddressInfo;
  const scheme = app.server instanceof TlsServer ? "https" : "http";
  return { port: taken, url: `${scheme}://${authorityOf(host, taken)}` };
}

/**
 * Where clients find what listens there, of this machine or another: a wildcard is no name that anybody
 * could call.
 */
export function clientUrl(scheme: "http" | "https", { host, port }: Address): string {
  const isWildcard = host === "0.0.0.0" || host === "::";
  const name = isWildcard ? "localhost" : host.includes(":") ? `[${host}]` : host;
  return `${scheme}://${name}:${port}`;
}

function authorityOf(host: string, port: number): string {
  const wildcard = host === "0.0.0.0" || host === "::";
  const reachable = wildcard ? "127.0.0.1" : host;
  return `${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}
