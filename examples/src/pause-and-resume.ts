import { pause, task, workflow } from "@engine/sdk";
import { z } from "zod";

const Claim = z.object({ employee: z.string(), cents: z.int().positive(), reason: z.string() });

const describe = task(
  { name: "describe" },
  async (claim: z.infer<typeof Claim>) =>
    `${claim.employee} asks for ${(claim.cents / 100).toFixed(2)} EUR: ${claim.reason}`,
);

const payOut = task(
  { name: "pay_out" },
  async (payment: { employee: string; cents: number }) =>
    `transfer of ${payment.cents} cents to ${payment.employee}`,
);

/** Asks a person before it pays an expense claim. */
export const expenseClaim = workflow(
  { name: "expense_claim", namespace: "examples", input: Claim },
  async (claim) => {
    //#region pause
    const question = await describe(claim);
    const answer = await pause<{ approved: boolean; by: string } | null>("review", {
      output: question,
    });
    if (!answer?.approved) return { paid: false, by: answer?.by ?? "nobody" };
    return { paid: true, by: answer.by, receipt: await payOut(claim) };
    //#endregion
  },
);
