import { z } from "zod";
import { bareSchema } from "../options/program_form.ts";
import { secretsInUrl } from "../secrets.ts";
import type { Company } from "./config.ts";
import { configMessages, type Fault } from "./messages.ts";
import { configSchema, defaultKey, type EffectiveConfig } from "./schema.ts";
import { type Surroundings, substitute } from "./substitution.ts";
import { valueAt } from "./yaml_document.ts";

type Values = Readonly<Record<string, unknown>>;

/** The file's values with the default key filled in where a company depends on it, so that it is replaced like the others. */
export function withDefaultKey(values: Values): Values {
  const api = values["api"] ?? {};
  const { companies } = values;
  const ownKeys = Array.isArray(companies) && companies.every(company => valueAt(company, ["key"]) !== undefined);
  if (ownKeys || typeof api !== "object" || Array.isArray(api) || valueAt(api, ["key"]) !== undefined) return values;
  return { ...values, api: Object.assign(Object.create(null), api, { key: defaultKey }) };
}

export function doublyNamed(values: Values, keyAt: (path: readonly string[]) => string): Fault[] {
  if (values["company"] === undefined || values["companies"] === undefined) return [];
  return [{ where: `${keyAt(["companies"])} companies`, ...configMessages.company_and_companies() }];
}

/** The companies a run may work for. A key read again is added to `secrets`. */
export function companiesOf(
  effective: EffectiveConfig,
  templates: Values,
  surroundings: Surroundings,
  secrets: string[],
): Company[] {
  const { api, company: name, companies = [{ name, key: undefined, base_url: undefined }] } = effective;
  return companies.map((company, index) => {
    const place = company.key === undefined ? ["api", "key"] : ["companies", index, "key"];
    const written = { value: company.key ?? api.key, template: valueAt(templates, place) };
    return createCompany(company.name, company.base_url ?? api.base_url!, written, surroundings, secrets);
  });
}

function createCompany(
  name: string,
  address: string,
  written: { readonly value: string; readonly template: unknown },
  surroundings: Surroundings,
  secrets: string[],
): Company {
  let current = written.value;
  return {
    name,
    baseUrl: serviceAddress(address),
    key: () => current,
    refreshKey: async () => {
      if (typeof written.template !== "string") return current;
      const { text, inserted } = await substitute(written.template, surroundings);
      const fresh = new Set([text, ...inserted]);
      secrets.push(...[...fresh].filter(secret => !secrets.includes(secret)));
      current = text;
      return current;
    },
  };
}

/** The origin and path of an address, without a slash at its end and without /api/v1. */
export function serviceAddress(address: string): string {
  const { origin, pathname } = new URL(address);
  return `${origin}${pathname}`.replace(/(?<!\/)\/+$/, "").replace(/\/api\/v1$/, "");
}

/** What is secret wherever it was written: keys, and the passwords and tokens inside addresses. */
export function literalSecrets(value: unknown, schema: z.core.$ZodType = configSchema): string[] {
  const bare = bareSchema(schema);
  const { holds } = z.globalRegistry.get(bare) ?? {};
  if (typeof value === "string")
    return holds === "secrets" ? secretsInUrl(value) : holds === "secret" && value !== defaultKey ? [value] : [];
  if (Array.isArray(value))
    return bare instanceof z.ZodArray ? value.flatMap(item => literalSecrets(item, bare.element)) : [];
  const shape: Readonly<Record<string, z.core.$ZodType>> = bare instanceof z.ZodObject ? bare.shape : {};
  return Object.entries(shape).flatMap(([key, inner]) => literalSecrets(valueAt(value, [key]), inner));
}
