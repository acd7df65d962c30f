import type { ServerCall } from "../server-call.ts";
import { type RegisterOutcome, registerFile } from "../workflow-file/register-file.ts";
import type { Given } from "./file-news.ts";
import type { GivenVersions } from "./given-versions.ts";

/** A file that was not registered, with the versions of others that its own would have displaced. */
export interface Left {
  readonly path: string;
  readonly versions: readonly Given[];
}

export interface Yielding {
  /** Registers a file, unless that would displace a version that something else gave. */
  register(path: string): Promise<RegisterOutcome>;
  /** What was left as it is. */
  readonly left: readonly Left[];
  /** From now on a file is registered whenever it is saved. */
  end(): void;
}

/** Registration that displaces at its start only what it gave itself, now or in an earlier life. */
export function yielding(client: ServerCall["client"], given: GivenVersions): Yielding {
  const left: Left[] = [];
  let isStarting = true;
  return {
    left,
    end() {
      isStarting = false;
    },
    async register(path) {
      if (isStarting) {
        const planned = await registerFile(path, client, true);
        const others = displaced(planned).filter((version) => !given.isOurs(version));
        if (planned.registered && others.length > 0) {
          left.push({ path, versions: others });
          return { ...planned, registered: { items: [], warnings: [] }, problems: [] };
        }
      }
      const outcome = await registerFile(path, client);
      given.add(outcome.registered?.items ?? []);
      return outcome;
    },
  };
}

/** The versions that would not be the newest any more. */
function displaced({ registered }: RegisterOutcome): Given[] {
  return (registered?.items ?? [])
    .filter(({ created, version }) => created && version > 1)
    .map(({ namespace, name, version }) => ({ namespace, name, version: version - 1 }));
}
