import { expect, test } from "vitest";
import { addressKey, TrustedProxies, unreadableNetworks } from "./client-address.ts";

const behind = (networks: string[], socket: string | undefined, forwarded?: string | string[]) =>
  new TrustedProxies(networks).clientAddress(socket, forwarded);

test("NET-2 without trusted proxies the address is the socket's, whatever a header says", () => {
  expect(behind([], "203.0.113.9", "198.51.100.1")).toBe("203.0.113.9");
  expect(behind([], "::ffff:203.0.113.9")).toBe("203.0.113.9");
  expect(behind([], "fe80::1%eth0")).toBe("fe80::1");
  expect(behind([], undefined, "198.51.100.1")).toBeUndefined();
});

test("NET-2 a header of somebody who is no proxy counts for nothing", () => {
  expect(behind(["10.0.0.0/8"], "203.0.113.9", "198.51.100.1")).toBe("203.0.113.9");
  expect(behind(["10.0.0.0/8"], "11.0.0.1", "198.51.100.1")).toBe("11.0.0.1");
});

test("NET-2 behind proxies the address is the right-most entry that is none of them", () => {
  const networks = ["10.0.0.0/8", "192.168.7.1", "fd00::/8"];
  for (const [socket, forwarded, address] of [
    ["10.1.2.3", "198.51.100.1", "198.51.100.1"],
    ["10.1.2.3", "1.1.1.1, 198.51.100.1, 10.9.9.9, 192.168.7.1", "198.51.100.1"],
    ["::ffff:10.1.2.3", "198.51.100.1", "198.51.100.1"],
    ["fd12::1", "2001:db8::5", "2001:db8::5"],
    ["10.1.2.3", "198.51.100.1:4711", "198.51.100.1"],
    ["10.1.2.3", "[2001:db8::5]:4711", "2001:db8::5"],
    ["10.1.2.3", "[2001:db8::5]", "2001:db8::5"],
    // Every entry is a proxy's: the request began at the left-most.
    ["10.1.2.3", "10.5.5.5, 10.6.6.6", "10.5.5.5"],
    ["10.1.2.3", undefined, "10.1.2.3"],
    // A client writes to the left of what the proxies say.
    ["10.1.2.3", "10.5.5.5, 203.0.113.9", "203.0.113.9"],
  ] as const) {
    expect(behind(networks, socket, forwarded)).toBe(address);
  }
  expect(behind(networks, "10.1.2.3", ["1.1.1.1", "198.51.100.1"])).toBe("198.51.100.1");
});

test("NET-2 an entry that is no address ends the search at the proxy that told it", () => {
  for (const entry of ["", "unknown", "_hidden", "1.2.3", "999.1.1.1", "evil.com", "1.2.3.4:x"]) {
    expect(behind(["10.0.0.0/8"], "10.1.2.3", `198.51.100.1, ${entry}`)).toBe("10.1.2.3");
  }
});

test("NET-2 a network that cannot be read is named", () => {
  const wrong = [
    "10.0.0.0/33",
    "10.0.0/8",
    "fd00::/129",
    "10.0.0.0/8/8",
    "proxy.example",
    "1.1.1.1/",
  ];
  expect(unreadableNetworks(["10.0.0.0/8", "::1", ...wrong, "fd00::/8", "0.0.0.0/0"])).toEqual(
    wrong,
  );
  expect(() => behind(["nowhere"], "10.1.2.3")).toThrow('"nowhere" is no network');
});

test("NET-2 clients of IPv6 are counted by /64, of IPv4 by address", () => {
  expect(addressKey("203.0.113.9")).toBe("203.0.113.9");
  expect(addressKey(undefined)).toBe("unknown");
  for (const address of [
    "2001:db8:0:1::",
    "2001:db8:0:1::1",
    "2001:db8:0:1:ffff:ffff:ffff:ffff",
    "2001:0DB8:0000:0001:0:0:0:5",
    "2001:db8:0:1::192.0.2.1",
  ]) {
    expect(addressKey(address)).toBe("2001:db8:0:1::/64");
  }
  expect(addressKey("2001:db8::1:0:0:1")).toBe("2001:db8:0:0::/64");
  expect(addressKey("::1")).toBe("0:0:0:0::/64");
  expect(addressKey("2001:db8:0:2::1")).not.toBe(addressKey("2001:db8:0:1::1"));
});
