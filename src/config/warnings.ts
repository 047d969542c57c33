import type { EffectiveConfig } from "./schema.ts";

/** Settings that are valid and yet have no effect, or not the one that was probably meant. */
export function warningsOf({ api, companies, destination }: EffectiveConfig): string[] {
  const warnings: string[] = [];
  if (destination.type === "duckdb") {
    for (const key of ["url", "grant_select_to"] as const) {
      if (destination[key] !== undefined) {
        warnings.push(`destination.${key} has no effect with type duckdb: it belongs to type postgres.`);
      }
    }
  }
  for (const address of new Set([
    api.base_url,
    ...(companies ?? []).map(company => company.base_url ?? api.base_url),
  ])) {
    const { protocol, hostname } = new URL(address);
    if (protocol === "http:" && !/^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname)) {
      warnings.push(`The API key goes to ${hostname} unencrypted: use https:// where the service offers it.`);
    }
  }
  return warnings;
}
