/** How the tools of a service fit together, for the model that calls them (MCP-15). */
export function instructions(description: string | null): string {
  const about = description?.trim() ? `${description.trim()}\n\n` : "";
  return `${about}${TOGETHER}`;
}

const TOGETHER = `Each workflow is offered as five tools. The one with the workflow's name runs it and waits for its output; \`<name>_async\` starts it and answers an execution id at once. \`status_<name>\` takes such an id and tells how far the execution is, with its output once it is COMPLETED. An execution may be PAUSED until somebody answers: \`resume_<name>\` answers and waits for the output, \`resume_<name>_async\` answers and does not wait. A run that takes too long is not lost: its answer is an execution id, and it goes on. Very long names are shortened; a tool's description names the others.`;
