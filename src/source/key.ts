import { unlessAborted } from "../clock.ts";
import type { Api, ApiSettings } from "./api.ts";

/** The key that a client sends. Another client of the company may read a newer one: it is none of this client's. */
export class UsedKey {
  current: string;
  readonly #settings: Pick<ApiSettings, "refreshKey" | "admit">;
  readonly #askWith: (key: string) => Pick<Api, "get">;
  #replacing: Promise<void> | undefined;

  /** `askWith` sends requests with a key that is not admitted yet. */
  constructor(settings: ApiSettings, askWith: (key: string) => Pick<Api, "get">) {
    this.current = settings.key;
    this.#settings = settings;
    this.#askWith = askWith;
  }

  /** Requests that are refused at the same time bring the new key once. @throws what `admit` throws: then the key stays the one before */
  async replace(signal: AbortSignal | undefined): Promise<void> {
    this.#replacing ??= this.#replaced().finally(() => {
      this.#replacing = undefined;
    });
    await unlessAborted(signal, this.#replacing);
  }

  async #replaced(): Promise<void> {
    const { refreshKey, admit } = this.#settings;
    const key = await refreshKey?.();
    if (key === undefined || key === this.current) return;
    await admit?.(this.#askWith(key));
    this.current = key;
  }
}

/** Replaces the key, plain and as it stands in a URL or in base64, so that a service that echoes it cannot spread it. */
export function withoutKey(text: string, key: string): string {
  if (key === "") return text;
  const forms = [key, encodeURIComponent(key), Buffer.from(key).toString("base64")];
  return forms.reduce((clean, form) => clean.replaceAll(form, "***"), text);
}
