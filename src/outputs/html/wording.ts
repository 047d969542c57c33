import { html } from "hono/html";

export const breakable = (name: string) =>
  name.split(/(?<=[_/])/).map((part, index) => (index === 0 ? part : html`<wbr>${part}`));

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', "#39": "'", amp: "&" };

export const plainText = (markup: unknown): string =>
  String(markup)
    .replace(/<[^<>]*>/g, "")
    .replace(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => ENTITIES[name]!);
