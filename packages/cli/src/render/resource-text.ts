import type { ReservedResources, ResourceRequests, WorkerResources } from "@engine/contract";
import { counted } from "./counted.ts";

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"] as const;

/** `1.5 GiB`: at most one digit behind the point. */
export function byteText(bytes: number): string {
  let amount = bytes;
  let unit = 0;
  for (; amount >= 1024 && unit < UNITS.length - 1; unit++) amount /= 1024;
  return `${Math.round(amount * 10) / 10} ${UNITS[unit]}`;
}

/** What a machine has, and how much of it was free when its worker spoke last. */
export function resourcesText(it: WorkerResources): string {
  return [
    `${coresText(it.cpu_total)}, ${roundedCores(it.cpu_available)} free`,
    `${byteText(it.memory_total)} memory, ${byteText(it.memory_available)} free`,
    `${byteText(it.disk_total)} disk, ${byteText(it.disk_free)} free`,
    ...it.gpus.map((gpu) => `${gpu.name}, ${byteText(gpu.memory_total)}`),
  ].join("\n");
}

/** What its executions asked for; undefined when that is nothing. */
export function reservedText({ cpu, memory, disk, gpu }: ReservedResources): string | undefined {
  const parts = [
    cpu > 0 && coresText(cpu),
    memory > 0 && `${byteText(memory)} memory`,
    disk > 0 && `${byteText(disk)} disk`,
    gpu > 0 && counted(gpu, "GPU"),
  ];
  return parts.filter((part) => part !== false).join(", ") || undefined;
}

/** What a workflow or a task asks for, packages as they are written. */
export function requestsText(requests: ResourceRequests): string {
  const { cpu, memory, disk, gpu, packages = [] } = requests;
  const parts = [
    // A fraction is meant as it stands.
    cpu !== undefined && counted(cpu, "core"),
    memory !== undefined && `${byteText(memory)} memory`,
    disk !== undefined && `${byteText(disk)} disk`,
    gpu !== undefined && counted(gpu, "GPU"),
    packages.length > 0 && `packages ${packages.join(" ")}`,
  ];
  return parts.filter((part) => part !== false).join(", ");
}

function coresText(cores: number): string {
  return counted(roundedCores(cores), "core");
}

function roundedCores(cores: number): number {
  return Math.round(cores * 10) / 10;
}
