import type { MakeDomain } from "../domain.ts";

export const intakeDomain: MakeDomain = () => ({ sources: {}, routes: [] });
