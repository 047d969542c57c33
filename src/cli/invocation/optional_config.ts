import type { LoadedConfig } from "../../config/load.ts";
import { ConfigError } from "../../errors.ts";
import type { CliContext } from "./context.ts";

/**
 * The configuration, for commands that look around: before there is one, or while it lacks its variables, they do without
 * and say so with `consequence`. @throws ConfigError for a file that was named and cannot be used
 */
export async function configIfAny(
  options: { readonly config?: string | undefined },
  context: CliContext,
  consequence: string,
): Promise<LoadedConfig | undefined> {
  try {
    return await context.openConfig(options, { local: true });
  } catch (error) {
    if (!(error instanceof ConfigError) || options.config !== undefined) throw error;
    const missing = (error.cause as NodeJS.ErrnoException | undefined)?.code === "ENOENT";
    if (!missing) context.stderr.write(`${context.redact(error.message)}\n${consequence}\n`);
    return undefined;
  }
}
