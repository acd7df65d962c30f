import {
  type CallExpression,
  type ImportExpression,
  type Node,
  type ParseResult,
  parseSync,
} from "oxc-parser";
import { isReferenceIdentifier, ScopeTracker, type ScopeTrackerNode, walk } from "oxc-walker";
import { type Binding, patternNames } from "./binding.ts";
import { type LineColumn, lineColumns } from "./line-column.ts";
import { isProgram } from "./local-path.ts";

/**
 * One parsed file, indexed so that everything after it is a lookup: what each name stands for, the
 * node above each node, every call. Scopes are walked twice because a function may use a `const`
 * declared below it.
 */
export interface SourceModule {
  readonly path: string;
  readonly source: string;
  readonly parsed: ParseResult;
  /** What a reference stands for; absent for a name of the surroundings such as `fetch`. */
  readonly references: ReadonlyMap<Node, Binding>;
  /** By the identifier, function, class or import specifier that declares it. */
  readonly declarations: ReadonlyMap<Node, Binding>;
  readonly parents: ReadonlyMap<Node, Node>;
  readonly calls: readonly CallExpression[];
  readonly dynamicImports: readonly ImportExpression[];
  readonly position: (offset: number) => LineColumn;
}

/** Methods of the built-in collections that change what they are called on. */
export const MUTATORS: ReadonlySet<string> = new Set(
  "add copyWithin fill pop push reverse set shift sort splice unshift".split(" "),
);

/** A node and the file it is in. */
export interface Place<N extends Node = Node> {
  readonly module: SourceModule;
  readonly node: N;
}

export type CallPlace = Place<CallExpression>;

export function parseModule(path: string, source: string): ParseResult {
  return parseSync(path, source, {
    // Some entries have no extension, or one of another kind.
    ...(isProgram(path) ? {} : { lang: "ts" }),
    sourceType: "module",
    astType: "ts",
    preserveParens: false,
    showSemanticErrors: true,
  });
}

export function indexModule(path: string, source: string, parsed: ParseResult): SourceModule {
  const scopes = new ScopeTracker({ preserveExitedScopes: true });
  const declarations = new Map<Node, Binding>();
  const parents = new Map<Node, Node>();
  const calls: CallExpression[] = [];
  const dynamicImports: ImportExpression[] = [];
  walk(parsed.program, {
    scopeTracker: scopes,
    enter(node, parent) {
      if (parent !== null) parents.set(node, parent);
      if (node.type === "CallExpression") calls.push(node);
      if (node.type === "ImportExpression") dynamicImports.push(node);
      declare(node, parent, declarations);
    },
  });
  scopes.freeze();

  const references = new Map<Node, Binding>();
  walk(parsed.program, {
    scopeTracker: scopes,
    enter(node, parent) {
      if (node.type === "AssignmentExpression") noteAssignment(node.left, node.right);
      if (node.type === "CallExpression") noteMutation(node);
      if (node.type === "UpdateExpression") noteAssignment(node.argument, node);
      if (node.type === "UnaryExpression" && node.operator === "delete") {
        noteAssignment(node.argument, node);
      }
      if (node.type === "Identifier" && isReferenceIdentifier(node, parent)) lookUp(node);
    },
  });
  const found = { references, declarations, parents, calls, dynamicImports };
  return { path, source, parsed, ...found, position: lineColumns(source) };

  function lookUp(node: Node & { name: string }): Binding | undefined {
    const found = scopes.getDeclaration(node.name);
    if (found === null) return undefined;
    const binding = declarations.get(found.node) ?? parameter(found);
    references.set(node, binding);
    return binding;
  }

  function parameter(found: ScopeTrackerNode): Binding {
    const binding: Binding = { kind: "parameter", node: found.node, assigned: [] };
    declarations.set(found.node, binding);
    return binding;
  }

  // The walk is in the scope of the assignment now, so the name is looked up at once.
  function noteAssignment(target: Node, value: Node): void {
    if (target.type === "ArrayPattern" || target.type === "ObjectPattern") {
      for (const { id } of patternNames(target)) noteAssignment(id, value);
    }
    let root = target;
    while (root.type === "MemberExpression") root = root.object;
    if (root.type === "Identifier") lookUp(root)?.assigned.push(value);
  }

  function noteMutation(call: CallExpression): void {
    const { callee, arguments: values } = call;
    if (callee.type !== "MemberExpression" || callee.property.type !== "Identifier") return;
    const first = values[0];
    if (callee.property.name === "assign" && first) noteAssignment(first, call);
    if (MUTATORS.has(callee.property.name)) noteAssignment(callee.object, call);
  }
}

function declare(node: Node, parent: Node | null, declarations: Map<Node, Binding>): void {
  const assigned: Node[] = [];
  if (node.type === "VariableDeclarator" && parent?.type === "VariableDeclaration") {
    for (const { id, keys } of patternNames(node.id)) {
      declarations.set(id, { kind: "variable", keyword: parent.kind, node, keys, assigned: [] });
    }
  } else if (node.type === "FunctionDeclaration" || node.type === "FunctionExpression") {
    declarations.set(node, { kind: "function", node, assigned });
  } else if (node.type === "ClassDeclaration" || node.type === "ClassExpression") {
    if (node.id) declarations.set(node.id, { kind: "class", node, assigned });
  } else if (node.type === "TSEnumDeclaration" || node.type === "TSModuleDeclaration") {
    declarations.set(node.id, { kind: "other", node, assigned });
  } else if (node.type === "ImportDeclaration") {
    const source = node.source.value;
    for (const specifier of node.specifiers) {
      const imported = importedName(specifier);
      declarations.set(specifier, {
        kind: "import",
        source,
        imported,
        node: specifier,
        assigned: [],
      });
    }
  }
}

/** The name under which the other file exports it; `*` for the whole file. */
export function importedName(specifier: Node): string {
  if (specifier.type === "ImportNamespaceSpecifier") return "*";
  if (specifier.type !== "ImportSpecifier") return "default";
  return moduleExportName(specifier.imported);
}

export function moduleExportName(node: Node): string {
  if (node.type === "Identifier") return node.name;
  return node.type === "Literal" ? String(node.value) : "";
}
