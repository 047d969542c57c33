import { createHash } from "node:crypto";
import { html, raw } from "hono/html";
import { asset } from "../../package_root.ts";

/** A page's style sheet: what every page begins with, and its own. */
export const styleOf = (page: string): string => asset("base.css") + asset(`${page}.css`);

interface Parts {
  readonly title: string;
  readonly head: unknown;
  readonly body: unknown;
}

export const documentOf = ({ title, head, body }: Parts) => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
${head}
</head>
<body>
${body}
</body>
</html>
`;

/** A page in one file that loads nothing from anywhere; `name` is that of its style sheet and its script. */
export function standalone(name: "dictionary" | "report", { title, head, body }: Parts): string {
  const [stylesheet, script] = [styleOf(name), asset("base.js") + asset(`${name}.js`)];
  const policy = `default-src 'none'; img-src data:; style-src '${digest(stylesheet)}'; script-src '${digest(script)}'`;
  return String(
    documentOf({
      title,
      head: html`${head}
<meta http-equiv="Content-Security-Policy" content="${raw(policy)}">
<link rel="icon" href="data:,">
<style>${raw(stylesheet)}</style>`,
      body: html`<a class="skip" href="#content">To the content</a>
${body}
<script>${raw(script)}</script>`,
    }),
  );
}

/** The source expression of an inline script or style sheet in a content security policy. */
const digest = (text: string): string => `sha256-${createHash("sha256").update(text).digest("base64")}`;
