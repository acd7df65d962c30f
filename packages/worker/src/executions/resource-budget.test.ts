import type { TaskRequests } from "@engine/contract";
import { expect, test } from "vitest";
import { ResourceBudget } from "./resource-budget.ts";

const GIB = 2 ** 30;

/** Requests by name, and which of them have been granted so far, in order. */
function createRequests(total: TaskRequests) {
  const budget = new ResourceBudget(total);
  const granted: string[] = [];
  const request = async (name: string, wanted: TaskRequests, signal?: AbortSignal) => {
    const release = await budget.acquire(wanted, signal);
    granted.push(name);
    return release;
  };
  return { request, granted };
}

/** Lets everything happen that needs no more than microtasks. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

test("RES-4 a task's body waits until what it requests is free", async () => {
  const { request, granted } = createRequests({ cpu: 4, memory: 8 * GIB });
  const release = await request("first", { cpu: 3, memory: GIB });
  const second = request("second", { cpu: 2 });
  await settle();
  expect(granted).toEqual(["first"]);
  release();
  await second;
  expect(granted).toEqual(["first", "second"]);
});

test("RES-4 requests are served in order: a small one does not overtake one that waits", async () => {
  const { request, granted } = createRequests({ cpu: 4 });
  const release = await request("half", { cpu: 2 });
  void request("all", { cpu: 4 });
  const small = request("small", { cpu: 1 });
  await settle();
  expect(granted).toEqual(["half"]);
  release();
  await settle();
  expect(granted).toEqual(["half", "all"]);
  await expect(Promise.race([small, settle().then(() => "waits")])).resolves.toBe("waits");
});

test("RES-4 each of the resources has to have room", async () => {
  const { request, granted } = createRequests({ cpu: 8, memory: 8 * GIB, gpu: 1 });
  const release = await request("trains", { cpu: 1, gpu: 1 });
  void request("trains too", { cpu: 1, gpu: 1 });
  await settle();
  expect(granted).toEqual(["trains"]);
  release();
  await settle();
  expect(granted).toEqual(["trains", "trains too"]);
});

test("RES-4 one that is given up while it waits lets those behind it through, and holds nothing", async () => {
  const { request, granted } = createRequests({ cpu: 4 });
  const release = await request("half", { cpu: 2 });
  const abort = new AbortController();
  const all = request("all", { cpu: 4 }, abort.signal);
  void request("small", { cpu: 2 });
  abort.abort(new Error("cancelled"));
  await expect(all).rejects.toThrow("cancelled");
  await settle();
  expect(granted).toEqual(["half", "small"]);
  release();
  await expect(request("late", { cpu: 4 }, abort.signal)).rejects.toThrow("cancelled");
});

test("RES-4 giving back twice gives back once", async () => {
  const { request, granted } = createRequests({ cpu: 1 });
  const release = await request("a", { cpu: 1 });
  release();
  release();
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
