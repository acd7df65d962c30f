import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { SseReader } from "./sse-reader.ts";

test("PRG-6 a reader keeps frames in order, across any cut, and adds up what was dropped", async () => {
  const text =
    'event: a\ndata: {"n":1}\n\n: dropped 12\n\nid: 4\nevent: b\ndata: {"n":2}\n\n: dropped 3\n\n: ping\n\n';
  const write = (response: ServerResponse, from: number) => {
    if (from === text.length) response.end();
    else response.write(text.charAt(from), () => write(response, from + 1));
  };
  const server = createServer((_, response) => write(response, 0)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const reader = await SseReader.open(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await reader.read();
  server.close();
  expect(reader.frames.map(({ event, data }) => [event, JSON.parse(data)])).toEqual([
    ["a", { n: 1 }],
    ["b", { n: 2 }],
  ]);
  expect(reader.dropped).toBe(15);
});
