import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { fetchJson, reasonOf, type SetTimer } from "./fetch-json.ts";

const never: SetTimer = () => () => {};

/** A server on loopback for one test. */
async function served(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Why it could not be fetched. */
async function failure(url: string, setTimer: SetTimer = never): Promise<string> {
  return fetchJson(url, { fetch, setTimer }).then(
    () => expect.unreachable("it was fetched"),
    reasonOf,
  );
}

test("AUTH-15 a document is fetched as JSON, whatever type it says it has", async () => {
  const url = await served((request, response) => {
    response.setHeader("content-type", "text/plain");
    response.end(JSON.stringify({ accept: request.headers.accept }));
  });
  expect(await fetchJson(url, { fetch, setTimer: never })).toEqual({ accept: "application/json" });
});

test("AUTH-15 a redirect is not followed", async () => {
  const asked: unknown[] = [];
  const url = await served((request, response) => {
    asked.push(request.url);
    response.writeHead(302, { location: "/elsewhere" }).end();
  });
  expect(await failure(url)).toBe("it answered 302");
  expect(asked).toEqual(["/"]);
});

test.each([204, 404, 500])("AUTH-15 an answer of %i is none", async (status) => {
  const url = await served((_, response) => void response.writeHead(status).end());
  expect(await failure(url)).toBe(`it answered ${status}`);
});

test("AUTH-15 an answer that says it is larger than 1 MiB is not read", async () => {
  const url = await served((_, response) => {
    response.writeHead(200, { "content-length": 2 ** 20 + 1 }).flushHeaders();
  });
  expect(await failure(url)).toBe("the answer is larger than 1 MiB");
});

test("AUTH-15 an answer without an end is read up to 1 MiB, and left", async () => {
  const left = Promise.withResolvers<void>();
  const url = await served((_, response) => {
    const send = () => {
      while (response.write(" ".repeat(65_536)));
    };
    response.on("drain", send).on("close", left.resolve);
    send();
  });
  expect(await failure(url)).toBe("the answer is larger than 1 MiB");
  await left.promise;
});

test("AUTH-15 an answer that unpacks to more than 1 MiB is refused, one of exactly that is not", async () => {
  const sizes = [2 ** 20, 2 ** 20 + 1, 2 ** 27];
  const url = await served((request, response) => {
    response.setHeader("content-encoding", "gzip");
    response.end(gzipSync(`"${"x".repeat(Number(request.url?.slice(1)) - 2)}"`));
  });
  const [most, ...more] = sizes.map((size) => `${url}/${size}`);
  expect(await fetchJson(most ?? "", { fetch, setTimer: never })).toHaveLength(2 ** 20 - 2);
  for (const one of more) expect(await failure(one)).toBe("the answer is larger than 1 MiB");
});

test.each(["before its headers", "in the middle of its body"])(
  "AUTH-15 an answer that stops %s is given up after 5 seconds",
  async (where) => {
    const reached = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    const url = await served((_, response) => {
      response.on("close", left.resolve);
      if (where === "in the middle of its body") response.write('{"keys":');
      reached.resolve();
    });
    const setTimer: SetTimer = (run, ms) => {
      expect(ms).toBe(5_000);
      void reached.promise.then(run);
      return () => {};
    };
    expect(await failure(url, setTimer)).toBe("no answer within 5 seconds");
    await left.promise;
  },
);

test.each(["", "<html>s3cret</html>", '{"keys":[', "\xff"])(
  "AUTH-15 an answer that is not JSON is none, and is not repeated: %j",
  async (body) => {
    const url = await served((_, response) => void response.end(body));
    expect(await failure(url)).toBe("the answer is not JSON");
  },
);

test("AUTH-15 a provider that nobody listens for is told by the code of what happened", async () => {
  const url = await served((request) => request.socket.destroy());
  expect(await failure(url)).toMatch(/^UND_ERR_SOCKET$|^ECONNRESET$/);
  expect(await failure("http://127.0.0.1:1")).toMatch(/ECONNREFUSED|bad port/);
});
