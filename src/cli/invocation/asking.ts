import { StoppedError } from "../../errors.ts";
import type { CliContext } from "./context.ts";

interface Place {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  readonly signal: AbortSignal;
}

/** Asks one question on the terminal. @throws StoppedError with `otherwise` for Ctrl-C, Ctrl-D and a terminal that is gone */
export async function ask<Question, Answer>(
  { stdin, stderr }: Pick<CliContext, "stdin" | "stderr">,
  prompt: (question: Question, place: Place) => Promise<Answer>,
  question: Question,
  otherwise: string,
): Promise<Answer> {
  const ended = new AbortController();
  // At the end of its input a prompt pauses it, and waits for ever.
  const end = () => ended.abort();
  stdin.once("pause", end);
  try {
    return await prompt(question, { input: stdin, output: stderr, signal: ended.signal });
  } catch (error) {
    if (!(error instanceof Error) || !["ExitPromptError", "AbortPromptError"].includes(error.name)) throw error;
    throw new StoppedError(otherwise, 130);
  } finally {
    stdin.off("pause", end);
  }
}
