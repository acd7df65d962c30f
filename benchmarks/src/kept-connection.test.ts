import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { JsonClient } from "./json-client.ts";

test("answers come whole, however they are cut or counted, and a refusal says what was answered", async () => {
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => {
      body += text;
    });
    request.on("end", () => {
      const text = JSON.stringify({ url: request.url, body, long: "é".repeat(70_000) });
      if (request.url === "/refused") response.writeHead(409).end("taken");
      else if (request.url === "/counted") response.end(text);
      else {
        // Two writes without a length: chunked.
        response.write(text.slice(0, 20));
        setImmediate(() => response.end(text.slice(20)));
      }
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  const client = new JsonClient(`http://127.0.0.1:${port}`);
  const post = (path: string) =>
    client.send<{ url: string; body: string; long: string }>({ method: "POST", path, body: "ü" });
  for (const path of ["/counted", "/chunked", "/counted"]) {
    expect(await post(path)).toEqual({ url: path, body: '"ü"', long: "é".repeat(70_000) });
  }
  await expect(post("/refused")).rejects.toThrow("POST /refused answered 409: taken");
  client.close();
  await new Promise((closed) => server.close(closed));
});
