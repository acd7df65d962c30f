import { type Route, routes } from "@engine/contract";

/** First segments of fixed paths: the basic routes do not reach a workflow of that name (EXE-89). */
const FIXED: ReadonlySet<string> = new Set(
  Object.values<Readonly<Record<string, Route>>>(routes)
    .flatMap((group) => Object.values(group))
    .map(({ path }) => path.split("/", 2)[1] ?? "")
    .filter((segment) => !segment.startsWith("{")),
);

/** What to say of a workflow's name; undefined for nearly all. */
export function shadowedName(namespace: string, name: string): string | undefined {
  if (!FIXED.has(name)) return undefined;
  return `POST /${name} is not this workflow, since the server has paths of its own under /${name}; start it with POST /workflows/${namespace}/${name}/run/sync, or give it another name`;
}
