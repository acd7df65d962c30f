import { checkTaskCopyOptions, type SourceIssue, type TaskRecord } from "@engine/contract";
import type { Node } from "oxc-parser";
import type { SourceGraph } from "../modules/source-graph.ts";
import { type Finding, type Subject, sourceIssue } from "../modules/source-issues.ts";
import type { CallPlace, Place } from "../modules/source-module.ts";
import { type DeclaredSecret, declaredSecrets } from "./declared-secrets.ts";
import {
  type Definition,
  optionFinding,
  type ReadOptions,
  readDefinition,
  readOptions,
  recordOf,
  writtenAt,
} from "./definition.ts";
import type { Copy, Reached } from "./reach.ts";
import { taskValues } from "./record-values.ts";

export interface TasksRead {
  tasks: TaskRecord[];
  issues: SourceIssue[];
  secrets: DeclaredSecret[];
}

/** Reads the tasks of one workflow after another; a task that several share is read once. */
export function createTaskReader(
  graph: SourceGraph,
): (reached: Pick<Reached, "tasks" | "copies">, subject: Subject) => TasksRead {
  const definitions = new Map<Node, Definition>();
  /** What is wrong with a task is told once, though several workflows reach it. */
  const told = new Set<Node>();

  return (reached, subject) => {
    const issues: SourceIssue[] = [];
    const secrets: DeclaredSecret[] = [];
    const byName = new Map<string, Place>();
    const copies = reached.copies.map(readCopy);
    const byTask = Map.groupBy(copies, ({ task }) => task);
    const tasks = reached.tasks.map((place, index): TaskRecord => {
      const task = readTask(place);
      const at = { workflow: subject.workflow, path: `${subject.path}.tasks[${index}]` };
      const findings = told.has(place.node) ? [] : task.findings;
      told.add(place.node);
      issues.push(...findings.map((each) => sourceIssue(each, at)));
      const earlier = task.name === undefined ? undefined : byName.get(task.name);
      if (earlier) issues.push(sourceIssue(duplicateTask(task, earlier), at));
      else if (task.name !== undefined) byName.set(task.name, place);
      const own = byTask.get(place.node) ?? [];
      for (const { options, secretsAt } of [task, ...own]) {
        secrets.push(...declaredSecrets(options.secrets, secretsAt, at));
      }
      return {
        name: task.name ?? "",
        description: task.description,
        ...taskValues([task.options, ...own.map(({ options }) => options)]),
      };
    });
    const at = { workflow: subject.workflow, path: `${subject.path}.tasks` };
    const findings = copies.flatMap((copy) => copy.findings);
    issues.push(...findings.map((each) => sourceIssue(each, at)));
    return { tasks, issues, secrets };
  };

  function readTask(place: CallPlace): Definition {
    const task = definitions.get(place.node) ?? readDefinition(graph, "task", place);
    definitions.set(place.node, task);
    return task;
  }

  /** The options that a copy has in the end, and what is wrong with those it brings. */
  function readCopy(copy: Copy) {
    const [task, ...copies] = copy.originals;
    const replaced = copies.map((each) => recordOf(optionsOf(each)?.value));
    const original: ReadOptions = Object.assign({}, task && readTask(task).options, ...replaced);
    const evaluated = optionsOf(copy);
    if (!evaluated) return { task: task?.node, options: original, secretsAt: copy, findings: [] };

    const own = recordOf(evaluated.value) ?? {};
    const wrong = checkTaskCopyOptions(own, { ...original }).map((issue) =>
      optionFinding(issue, evaluated.place, evaluated),
    );
    const options: ReadOptions = { ...original, ...own };
    const secretsAt = writtenAt(evaluated, "secrets") ?? evaluated.place;
    const findings = [...evaluated.findings, ...wrong];
    return { task: task?.node, options, secretsAt, findings };
  }

  function optionsOf({ module, node }: CallPlace) {
    const [argument] = node.arguments;
    const place = argument && { module, node: argument };
    return place && { place, ...readOptions(graph, "task", place) };
  }
}

function duplicateTask({ name, place }: Definition, first: Place): Finding {
  const { line, column } = first.module.position(first.node.start);
  const message = `two tasks of one workflow are named ${name}, the first at ${first.module.path}:${line}:${column}, since a name stands for one task in the log; rename one, or write the second as a copy: with(options) of the first`;
  return { rule: "duplicate_task", message, place, path: "name" };
}
