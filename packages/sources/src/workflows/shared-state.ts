import type { Node } from "oxc-parser";
import { type Binding, patternNames } from "../modules/binding.ts";
import { unwrap } from "../modules/resolve.ts";
import type { Finding } from "../modules/source-issues.ts";
import { MUTATORS, type SourceModule } from "../modules/source-module.ts";

/**
 * The warning about code of a body or task that writes to what the module declares: executions on one
 * thread share it, those on others do not see it, and a replay finds it as the last one left it.
 */
export function sharedWrites(module: SourceModule, node: Node): Finding[] {
  return written(node).flatMap((target): Finding[] => {
    const root = rootOf(target);
    const binding = root && module.references.get(root);
    if (root?.type !== "Identifier" || !binding) return [];
    if (!isOfModule(module, binding) || !(target === root || isContainer(binding))) return [];
    return [
      {
        rule: "shared_state",
        message: `${root.name} belongs to the module, so all executions that run on one thread share it and those on other threads and workers do not see it; keep it in the body, hand it on as input or output, or store it where all workers reach it`,
        place: { module, node },
        path: "body",
      },
    ];
  });
}

/** What a node writes to: variables, or members of them. */
function written(node: Node): readonly Node[] {
  switch (node.type) {
    case "AssignmentExpression":
      return targets(node.left);
    case "UpdateExpression":
      return [node.argument];
    case "UnaryExpression":
      return node.operator === "delete" ? [node.argument] : [];
    case "CallExpression": {
      const { callee } = node;
      const isMutator =
        callee.type === "MemberExpression" &&
        callee.property.type === "Identifier" &&
        (MUTATORS.has(callee.property.name) || OF_MAPS.has(callee.property.name));
      return isMutator ? [callee] : [];
    }
    default:
      return [];
  }
}

const OF_MAPS: ReadonlySet<string> = new Set(["clear", "delete"]);

function targets(left: Node): readonly Node[] {
  const isPattern = left.type === "ArrayPattern" || left.type === "ObjectPattern";
  return isPattern ? patternNames(left).map(({ id }) => id) : [unwrap(left)];
}

function rootOf(target: Node): Node | undefined {
  let root = unwrap(target);
  while (root.type === "MemberExpression") root = unwrap(root.object);
  return root.type === "Identifier" ? root : undefined;
}

function isOfModule(module: SourceModule, binding: Binding): boolean {
  if (binding.kind !== "variable") return false;
  const above = module.parents.get(binding.node);
  const place = above && module.parents.get(above);
  return place?.type === "Program" || place?.type === "ExportNamedDeclaration";
}

/** Whether it surely holds an object of its own: what a function gave may well be made for it. */
function isContainer(binding: Binding): boolean {
  if (binding.kind !== "variable" || binding.node.init === null) return false;
  const init = unwrap(binding.node.init);
  if (init.type === "ObjectExpression" || init.type === "ArrayExpression") return true;
  return (
    init.type === "NewExpression" &&
    init.callee.type === "Identifier" &&
    /^(?:Weak)?(?:Map|Set)$/.test(init.callee.name)
  );
}
