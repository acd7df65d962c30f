import type { TaskRequests } from "@engine/contract";
import { expect, test } from "vitest";
import { Reservations } from "./reservations.ts";

const GIB = 2 ** 30;

/** Requests by the name of their call, and which of them have been granted so far, in order. */
function createRequests(total: TaskRequests) {
  const reservations = new Reservations(total);
  const granted: string[] = [];
  const request = async (name: string, wanted: TaskRequests) => {
    await reservations.reserve(1, name, wanted);
    granted.push(name);
  };
  const release = (name: string) => reservations.release(1, name);
  return { request, release, granted };
}

/** Lets everything happen that needs no more than microtasks. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

test("RES-4 a task's body waits until what it requests is free", async () => {
  const { request, release, granted } = createRequests({ cpu: 4, memory: 8 * GIB });
  await request("first", { cpu: 3, memory: GIB });
  const second = request("second", { cpu: 2 });
  await settle();
  expect(granted).toEqual(["first"]);
  release("first");
  await second;
  expect(granted).toEqual(["first", "second"]);
});

test("RES-4 requests are served in order: a small one does not overtake one that waits", async () => {
  const { request, release, granted } = createRequests({ cpu: 4 });
  await request("half", { cpu: 2 });
  void request("all", { cpu: 4 });
  const small = request("small", { cpu: 1 });
  await settle();
  expect(granted).toEqual(["half"]);
  release("half");
  await settle();
  expect(granted).toEqual(["half", "all"]);
  await expect(Promise.race([small, settle().then(() => "waits")])).resolves.toBe("waits");
});

test("RES-4 each of the resources has to have room", async () => {
  const { request, release, granted } = createRequests({ cpu: 8, memory: 8 * GIB, gpu: 1 });
  await request("trains", { cpu: 1, gpu: 1 });
  void request("trains too", { cpu: 1, gpu: 1 });
  await settle();
  expect(granted).toEqual(["trains"]);
  release("trains");
  await settle();
  expect(granted).toEqual(["trains", "trains too"]);
});

test("RES-4 one that is given up while it waits lets those behind it through, and holds nothing", async () => {
  const { request, release, granted } = createRequests({ cpu: 4 });
  await request("half", { cpu: 2 });
  const all = request("all", { cpu: 4 });
  void request("small", { cpu: 2 });
  release("all");
  await expect(all).rejects.toThrow("needs no room any more");
  await settle();
  expect(granted).toEqual(["half", "small"]);
  release("half");
  release("small");
  await request("all", { cpu: 4 });
});

test("RES-4 giving back twice gives back once", async () => {
  const { request, release, granted } = createRequests({ cpu: 1 });
  await request("a", { cpu: 1 });
  release("a");
  release("a");
  await request("b", { cpu: 1 });
  void request("c", { cpu: 1 });
  await settle();
  expect(granted).toEqual(["a", "b"]);
});

test("RES-4 fractions of cores fill the whole budget, however they are rounded", async () => {
  const { request, granted } = createRequests({ cpu: 0.3 });
  for (const name of ["a", "b", "c"]) void request(name, { cpu: 0.1 });
  await settle();
  expect(granted).toEqual(["a", "b", "c"]);
});

test("RES-4 a request that this worker can never meet is refused, with both amounts", async () => {
  const { request } = createRequests({ cpu: 4 });
  await expect(request("huge", { cpu: 5 })).rejects.toMatchObject({
    code: "invalid_input",
    message: expect.stringContaining("requests 5 cpu, and this worker has 4"),
  });
});
