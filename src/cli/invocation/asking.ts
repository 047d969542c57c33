import { ConfigError, StoppedError } from "../../errors.ts";
import type { Message } from "../../message.ts";
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
  otherwise: Message,
): Promise<Answer> {
  const ended = new AbortController();
  // At the end of the input a prompt would wait for ever.
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

/**
 * Asks whether something is to be done. @throws ConfigError `offTerminal`, which names --yes, where there is no terminal;
 * StoppedError `refused` (130) for a no
 */
export async function askConsent(
  context: Pick<CliContext, "stdin" | "stderr">,
  message: string,
  { offTerminal, refused }: { readonly offTerminal: Message; readonly refused: Message },
): Promise<void> {
  if (!context.stdin.isTTY) throw new ConfigError(offTerminal);
  const { confirm } = await import("@inquirer/prompts");
  if (!(await ask(context, confirm, { message, default: false }, refused))) throw new StoppedError(refused, 130);
}
