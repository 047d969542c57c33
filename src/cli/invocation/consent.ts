import { ConfigError, StoppedError } from "../../errors.ts";
import type { CliContext } from "./context.ts";

/**
 * Asks on the terminal before something is done. @throws ConfigError `offTerminal`, which names --yes, where there is none to
 * ask on; StoppedError `refused` (130) for a no or Ctrl-C
 */
export async function askConsent(
  { stdin, stderr }: Pick<CliContext, "stdin" | "stderr">,
  message: string,
  { offTerminal, refused }: { readonly offTerminal: string; readonly refused: string },
): Promise<void> {
  if (!stdin.isTTY) throw new ConfigError(offTerminal);
  const { confirm } = await import("@inquirer/prompts");
  try {
    if (await confirm({ message, default: false }, { input: stdin, output: stderr })) return;
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "ExitPromptError") throw error;
  }
  throw new StoppedError(refused, 130);
}
