import { checkTaskCopyOptions, type SourceIssue, type TaskRecord } from "@engine/contract";
import type { Node } from "oxc-parser";
import {
  type Definition,
  optionFinding,
  readDefinition,
  readOptions,
  recordOf,
} from "./definition.ts";
import { reachFrom } from "./reach.ts";
import type { SourceGraph } from "./source-graph.ts";
import { type Finding, type Subject, sourceIssue } from "./source-issues.ts";
import type { Place } from "./source-module.ts";

export interface TasksRead {
  tasks: TaskRecord[];
  issues: SourceIssue[];
  warnings: SourceIssue[];
}

/** Reads the tasks of one workflow after another; a task that several share is read once. */
export function createTaskReader(
  graph: SourceGraph,
): (body: Place | undefined, subject: Subject) => TasksRead {
  const definitions = new Map<Node, Definition>();

  return (body, subject) => {
    const issues: SourceIssue[] = [];
    if (body === undefined) return { tasks: [], issues, warnings: [] };
    const reached = reachFrom(graph, body);
    const places = reached.tasks.toSorted(
      (a, b) =>
        graph.modules.indexOf(a.module) - graph.modules.indexOf(b.module) ||
        a.node.start - b.node.start,
    );
    const byName = new Map<string, Place>();
    const tasks = places.map((place, index): TaskRecord => {
      const known = definitions.get(place.node);
      const task = known ?? readDefinition(graph, "task", place);
      definitions.set(place.node, task);
      const at = { workflow: subject.workflow, path: `${subject.path}.tasks[${index}]` };
      if (known === undefined) issues.push(...task.findings.map((each) => sourceIssue(each, at)));
      const earlier = task.name === undefined ? undefined : byName.get(task.name);
      if (earlier) issues.push(sourceIssue(duplicateTask(task, earlier), at));
      else if (task.name !== undefined) byName.set(task.name, place);
      return { name: task.name ?? "", description: task.description };
    });
    for (const copy of reached.copies) {
      const at = { workflow: subject.workflow, path: `${subject.path}.tasks` };
      const [argument] = copy.node.arguments;
      const findings = argument ? copyFindings({ module: copy.module, node: argument }) : [];
      issues.push(...findings.map((each) => sourceIssue(each, at)));
    }
    const warnings = reached.warnings.map((each) => sourceIssue(each, subject));
    return { tasks, issues, warnings };
  };

  function copyFindings(place: Place): Finding[] {
    const evaluated = readOptions(graph, "task", place);
    const issues = checkTaskCopyOptions(recordOf(evaluated.value) ?? {});
    return [
      ...evaluated.findings,
      ...issues.map((issue) => optionFinding(issue, place, evaluated)),
    ];
  }
}

function duplicateTask({ name, place }: Definition, first: Place): Finding {
  const { line, column } = first.module.position(first.node.start);
  const message = `two tasks of one workflow are named ${name}, the first at ${first.module.path}:${line}:${column}; rename one`;
  return { rule: "duplicate_task", message, place, path: "name" };
}
