import type { Comment, Node } from "oxc-parser";
import { countUpTo } from "../modules/line-column.ts";
import { resolve, unwrap } from "../modules/resolve.ts";
import type { SourceGraph } from "../modules/source-graph.ts";
import type { Place, SourceModule } from "../modules/source-module.ts";

/** The first paragraph of the JSDoc above a definition, or above the function it is given. */
export function describedAbove(
  graph: SourceGraph,
  call: Place,
  body: Place | undefined,
): string | null {
  const own = describedAt(call);
  if (own !== null || body === undefined) return own;
  const target = resolve(graph, body);
  return target.kind === "node" ? describedAt(target) : null;
}

function describedAt({ module, node }: Place): string | null {
  for (const start of beginnings(module, node)) {
    const text = jsdocBefore(module.parsed.comments, module.source, start);
    if (text !== null) return firstParagraph(text);
  }
  return null;
}

/** Where the expression begins, and the declaration, property and export it is the value of. */
function beginnings(module: SourceModule, node: Node): number[] {
  const starts = [node.start];
  let child = node;
  for (let parent = module.parents.get(child); parent; parent = module.parents.get(child)) {
    if (!introduces(parent, child)) break;
    starts.push(parent.start);
    child = parent;
  }
  return starts;
}

function introduces(parent: Node, child: Node): boolean {
  if (parent.type === "VariableDeclarator") return parent.init === child;
  if (parent.type === "VariableDeclaration") return parent.declarations[0] === child;
  if (parent.type === "Property" || parent.type === "PropertyDefinition") {
    return parent.value === child;
  }
  return (
    unwrap(parent) !== parent ||
    parent.type === "ExportNamedDeclaration" ||
    parent.type === "ExportDefaultDeclaration"
  );
}

function jsdocBefore(comments: readonly Comment[], source: string, start: number): string | null {
  let before = start;
  const count = countUpTo(comments, start, ({ end }) => end);
  for (let index = count - 1; index >= 0; index--) {
    const comment = comments[index];
    if (!comment || source.slice(comment.end, before).trim() !== "") return null;
    if (comment.type === "Block")
      return comment.value.startsWith("*") ? comment.value.slice(1) : null;
    // A line comment between, such as an instruction to a linter, does not separate them.
    before = comment.start;
  }
  return null;
}

function firstParagraph(comment: string): string | null {
  const lines: string[] = [];
  for (const raw of comment.split(/\r\n|\n|\r/)) {
    const line = raw.replace(/^\s*\*?/, "").trim();
    if (line.startsWith("@") || (line === "" && lines.length > 0)) break;
    if (line !== "") lines.push(line);
  }
  return lines.length === 0 ? null : lines.join(" ");
}
