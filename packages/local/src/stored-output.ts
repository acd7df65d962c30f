import { type Encoded, type ExecutionRow, encode, referenceOf, storageOf } from "@engine/contract";
import type { AnyWorkflow } from "@engine/sdk";
import type { ValueStore } from "@engine/store";

/** The output itself, where the log holds a reference to it (EXE-49). */
export async function storedOutput(
  { output }: Pick<ExecutionRow, "output">,
  workflow: AnyWorkflow,
  values: ValueStore,
): Promise<Encoded> {
  const reference = referenceOf(output);
  if (!reference) return output;
  const { outputStorage: custom } = workflow.options;
  switch (storageOf(reference)) {
    case "inline":
      return reference.metadata["value"] as Encoded;
    case "engine":
      return JSON.parse(await values.load(reference.reference_id)) as Encoded;
    case "custom":
      // Without the storage that keeps it, the reference is all there is to show.
      if (typeof custom !== "object" || custom.type !== reference.storage_type) return output;
      return encode(await custom.retrieve(reference), "output");
  }
}
