import { expect, test } from "vitest";
import { isLoopbackHost } from "./loopback.ts";

test("NET-6 names and addresses of this machine are told from others that look like them", () => {
  const hostOf = (url: string) => /^http:\/\/([^/:[]+|\[.+\])/.exec(url)?.[1] ?? "";
  const own = ["localhost", "a.localhost", "127.0.0.1", "127.9.8.7", "[::1]"];
  const others = [
    ...["0.0.0.0", "10.0.0.1", "[::]", "[::ffff:127.0.0.1]", "localhost.example", "notlocalhost"],
    ...["127.0.0.1.example", "1127.0.0.1", "engine", ""],
  ];
  for (const host of own) expect(isLoopbackHost(hostOf(`http://${host}:8000/x`)), host).toBe(true);
  for (const host of others) expect(isLoopbackHost(host), host).toBe(false);
});
