import type { MakeDomain } from "../domain.ts";

export const sourcingDomain: MakeDomain = () => ({ sources: {}, routes: [] });
