import { BlockList, isIP, isIPv4, isIPv6 } from "node:net";

/** Networks of proxies whose `X-Forwarded-For` is believed (NET-2). */
export class TrustedProxies {
  readonly #networks = new BlockList();
  readonly #isEmpty: boolean;

  /**
   * @param networks Addresses, or networks as `10.0.0.0/8` and `fd00::/8`.
   * @throws TypeError naming the first that is neither; {@link unreadableNetworks} lists all.
   */
  constructor(networks: readonly string[]) {
    this.#isEmpty = networks.length === 0;
    for (const text of networks) {
      const network = networkOf(text);
      if (!network) throw new TypeError(`${JSON.stringify(text)} is no network`);
      this.#networks.addSubnet(network.address, network.prefix, network.family);
    }
  }

  /**
   * The address a request comes from: the socket's, or, where that is a proxy's, the right-most entry
   * of `X-Forwarded-For` that is no proxy's. What stands further to the left is the client's own word.
   */
  clientAddress(
    socket: string | undefined,
    forwarded: string | readonly string[] | undefined,
  ): string | undefined {
    let address = socket === undefined ? undefined : plain(socket);
    if (this.#isEmpty || forwarded === undefined || address === undefined) return address;
    const entries = [forwarded].flat().join(",").split(",").reverse();
    for (const entry of entries) {
      if (!this.#has(address)) break;
      const behind = addressIn(entry);
      // What a proxy does not tell stays unknown: the request counts as the proxy's.
      if (behind === undefined) break;
      address = behind;
    }
    return address;
  }

  #has(address: string): boolean {
    return this.#networks.check(address, isIPv4(address) ? "ipv4" : "ipv6");
  }
}

/** Those of a list that are neither an address nor a network. */
export function unreadableNetworks(networks: readonly string[]): readonly string[] {
  return networks.filter((text) => networkOf(text) === undefined);
}

/**
 * What an address counts as where requests are counted: a client of IPv6 has a whole /64 to choose
 * addresses from (NET-2).
 */
export function addressKey(address: string | undefined): string {
  if (address === undefined || !isIPv6(address)) return address ?? "unknown";
  const [head = "", tail] = withoutZone(address).split("::");
  const [before, after] = [groupsOf(head), groupsOf(tail ?? "")];
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length;
  const groups = [...before, ...Array<string>(Math.max(0, zeros)).fill("0"), ...after];
  const network = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(":")}::/64`;
}

/** An IPv4 address that ends an IPv6 one takes the place of two groups. */
function groupsOf(text: string): string[] {
  const groups = text === "" ? [] : text.split(":");
  return groups.flatMap((group) => (group.includes(".") ? ["0", "0"] : [group]));
}

interface Network {
  readonly address: string;
  readonly prefix: number;
  readonly family: "ipv4" | "ipv6";
}

function networkOf(text: string): Network | undefined {
  const [given = "", length, ...rest] = text.split("/");
  const address = plain(given);
  if (rest.length > 0 || isIP(address) === 0 || address.includes("%")) return undefined;
  const family = isIPv4(address) ? "ipv4" : "ipv6";
  const most = family === "ipv4" ? 32 : 128;
  if (length === undefined) return { address, prefix: most, family };
  const prefix = /^\d{1,3}$/.test(length) ? Number(length) : Number.NaN;
  return prefix <= most ? { address, prefix, family } : undefined;
}

/** The address of an entry, which may carry a port; undefined where it has none. */
function addressIn(entry: string): string | undefined {
  const text = entry.trim();
  const [, bracketed, v4] = /^(?:\[([^\]]+)\](?::\d+)?|(\d+\.\d+\.\d+\.\d+):\d+)$/.exec(text) ?? [];
  const address = plain(bracketed ?? v4 ?? text);
  return isIP(address) === 0 ? undefined : address;
}

/** Without a zone; an IPv4 address in its own form where it came in that of IPv6. */
function plain(address: string): string {
  const text = withoutZone(address);
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(text)?.[1];
  return mapped !== undefined && isIPv4(mapped) ? mapped : text;
}

function withoutZone(address: string): string {
  return address.split("%", 1)[0] ?? address;
}
