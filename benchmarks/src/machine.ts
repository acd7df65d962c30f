import { cpus, release, totalmem, type } from "node:os";

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memory_gib: number;
  readonly os: string;
  readonly node: string;
}

export function describeMachine(): Machine {
  const [cpu] = cpus();
  return {
    cpu: cpu?.model.trim() ?? "unknown",
    cores: cpus().length,
    memory_gib: Math.round(totalmem() / 2 ** 30),
    os: `${type()} ${release()}`,
    node: process.version,
  };
}
