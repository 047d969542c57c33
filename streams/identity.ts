import type { IdentityEndpoint } from "../src/catalog/stream.ts";

/** Where the service says whose key it is. */
export const identityEndpoint: IdentityEndpoint = {
  path: "/auth/company-settings",
  id: "company_id",
  name: "company_name",
};
