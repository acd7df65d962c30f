/** What the parameters of paths name: `details.resource` of a 404. */
export const resources: Readonly<Record<string, string>> = {
  ns: "workflow",
  wf: "workflow",
  workflow_name: "workflow",
  id: "execution",
  execution_id: "execution",
  delivery_id: "delivery",
  seq: "event",
  subject: "principal",
  key_name: "key",
};
