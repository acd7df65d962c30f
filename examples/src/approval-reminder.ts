import { pause, sleep, task, workflow } from "@engine/sdk";
import { z } from "zod";

const Contract = z.object({ title: z.string(), signer: z.string() });

const REMINDERS = 2;

const remind = task(
  { name: "remind" },
  async ({ title, signer }: z.infer<typeof Contract>) => `mail to ${signer}: please sign ${title}`,
);

/** Asks for a signature, reminds in the mornings, and gives up in the end. */
export const contractApproval = workflow(
  { name: "contract_approval", namespace: "examples", input: Contract },
  async (contract) => {
    //#region remind
    for (let reminders = 0; ; reminders++) {
      const answer = await pause<{ signed: boolean }>("signature", {
        output: contract.title,
        after: "2d",
      });
      if (answer) return { signed: answer.signed, reminders };
      if (reminders === REMINDERS) return { signed: false, reminders };
      await sleep(nextMorning(new Date())); // Recorded time: a replay sees the same.
      await remind(contract);
    }
    //#endregion
  },
);

/** Nine o'clock, UTC, of the day after. */
function nextMorning(after: Date): Date {
  return new Date(Date.UTC(after.getUTCFullYear(), after.getUTCMonth(), after.getUTCDate() + 1, 9));
}
