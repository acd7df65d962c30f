/** What parameters of the engine's paths name, as `details.resource` of a 404 has it. */
export const resources: Readonly<Record<string, string>> = {
  ns: "workflow",
  wf: "workflow",
  workflow_name: "workflow",
  id: "execution",
  execution_id: "execution",
  seq: "event",
};
