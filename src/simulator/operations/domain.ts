import type { MakeDomain } from "../domain.ts";

export const operationsDomain: MakeDomain = () => ({ sources: {}, routes: [] });
