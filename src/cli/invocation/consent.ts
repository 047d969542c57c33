import { ConfigError, StoppedError } from "../../errors.ts";
import { ask } from "./asking.ts";
import type { CliContext } from "./context.ts";

/**
 * Asks on the terminal before something is done. @throws ConfigError `offTerminal`, which names --yes, where there is none to
 * ask on; StoppedError `refused` (130) for a no, Ctrl-C or Ctrl-D
 */
export async function askConsent(
  { stdin, stderr }: Pick<CliContext, "stdin" | "stderr">,
  message: string,
  { offTerminal, refused }: { readonly offTerminal: string; readonly refused: string },
): Promise<void> {
  if (!stdin.isTTY) throw new ConfigError(offTerminal);
  const { confirm } = await import("@inquirer/prompts");
  if (!(await ask({ stdin, stderr }, confirm, { message, default: false }, refused)))
    throw new StoppedError(refused, 130);
}
