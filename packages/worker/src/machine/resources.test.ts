import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gpusIn, openResources } from "./resources.ts";

const GIB = 2 ** 30;

test("RES-3 a worker tells what its machine has, and how much of it is free", async () => {
  const { latest: now } = await openResources(tmpdir(), {});

  expect(now.cpu_total).toBeGreaterThanOrEqual(1);
  expect(now.memory_total).toBeGreaterThan(GIB / 4);
  expect(now.disk_total).toBeGreaterThan(0);
  expect(now.cpu_available).toBeLessThanOrEqual(now.cpu_total);
  expect(now.memory_available).toBeLessThanOrEqual(now.memory_total);
  expect(now.disk_free).toBeLessThanOrEqual(now.disk_total);
});

test("RES-3 what the configuration says of a resource is also what is free of it", async () => {
  const given = { cpu: 3.5, memory: "16GiB", disk: 1000, gpu: 2 };
  const { latest } = await openResources(tmpdir(), given);

  expect(latest).toEqual({
    cpu_total: 3.5,
    cpu_available: 3.5,
    memory_total: 16 * GIB,
    memory_available: 16 * GIB,
    disk_total: 1000,
    disk_free: 1000,
    gpus: [
      { name: "gpu", memory_total: 0 },
      { name: "gpu", memory_total: 0 },
    ],
  });
});

test("RES-3 an override that is no amount is refused with what would be one", async () => {
  await expect(openResources(tmpdir(), { memory: "16 gigs" })).rejects.toMatchObject({
    code: "invalid_input",
    message: expect.stringMatching(/resources\.memory: .*"16GiB".*got "16 gigs"/),
  });
});

test("RES-3 graphics cards are read line by line, and anything else is none", () => {
  expect(gpusIn("NVIDIA A100-SXM4-80GB, 81920\nTesla T4, 15360\n")).toEqual([
    { name: "NVIDIA A100-SXM4-80GB", memory_total: 80 * GIB },
    { name: "Tesla T4", memory_total: 15 * GIB },
  ]);
  expect(gpusIn("NVIDIA-SMI has failed because it could not reach the driver.\n")).toEqual([]);
});

test("RES-3 the disk of a folder that does not exist yet is that of the folder it will lie in", async () => {
  const { latest } = await openResources(join(tmpdir(), "engine-not-there", "home"), {});
  expect(latest.disk_total).toBeGreaterThan(0);
});
