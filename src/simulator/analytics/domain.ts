import type { MakeDomain } from "../domain.ts";

export const analyticsDomain: MakeDomain = () => ({ sources: {}, routes: [] });
