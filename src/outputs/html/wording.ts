import { html } from "hono/html";

/** `1234567` → `1,234,567`. */
export const count = (value: number): string => value.toLocaleString("en-US");

/** `1 row`, `2 rows`. */
export const counted = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`;

/** A name that may be broken where its words end. */
export const breakable = (name: string) =>
  name.split(/(?<=[_/])/).map((part, index) => (index === 0 ? part : html`<wbr>${part}`));

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', "#39": "'", amp: "&" };

/** What a browser would show of markup. */
export const plainText = (markup: unknown): string =>
  String(markup)
    .replace(/<[^<>]*>/g, "")
    .replace(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => ENTITIES[name]!);
