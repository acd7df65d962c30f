/** What executing a task of a workflow takes, besides running the workflow (AUTH-31). */
export function executePermission(namespace: string, workflow: string, task: string): string {
  return `workflow:${namespace}:${workflow}:task:${task}:execute`;
}
