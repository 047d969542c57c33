import type { MakeDomain } from "../domain.ts";

export const intelligenceDomain: MakeDomain = () => ({ sources: {}, routes: [] });
