import { createHash } from "node:crypto";
import { html, raw } from "hono/html";

export const light = "--ground: #f4f6f8; --card: #ffffff; --line: #e1e6ec; --text: #18212c; --quiet: #556272;";
const dark = "--ground: #0e1319; --card: #161d26; --line: #27323e; --text: #e7edf4; --quiet: #9dabbb;";

export const FONT = `system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif`;
export const MONOSPACE = "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace";

/** What every style sheet begins with: colours, light and dark, to which each page adds its own, and words that are only heard. */
export const baseStyle = (colours: { readonly light: string; readonly dark: string }): string => `
:root { color-scheme: light dark; ${light} ${colours.light} }
@media (prefers-color-scheme: dark) { :root { ${dark} ${colours.dark} } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
h1, h2, h3, h4, p, ul, dl, dd, figure { margin: 0; }
ul { padding: 0; list-style: none; }
a { color: var(--accent); }
code { font: 0.92em ${MONOSPACE}; overflow-wrap: anywhere; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
.skip { position: absolute; left: -999px; } .skip:focus { left: 12px; top: 8px; background: var(--card); padding: 4px 10px; }
.unseen { position: absolute; width: 1px; height: 1px; margin: -1px; padding: 0; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.quiet { color: var(--quiet); font-size: 13px; }`;

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

/** A page in one file that loads nothing from anywhere. */
export function standalone({
  stylesheet,
  script,
  ...parts
}: Parts & { readonly stylesheet: string; readonly script: string }): string {
  const policy = `default-src 'none'; img-src data:; style-src '${digest(stylesheet)}'; script-src '${digest(script)}'`;
  return String(
    documentOf({
      title: parts.title,
      head: html`${parts.head}
<meta http-equiv="Content-Security-Policy" content="${raw(policy)}">
<link rel="icon" href="data:,">
<style>${raw(stylesheet)}</style>`,
      body: html`<a class="skip" href="#content">To the content</a>
${parts.body}
<script>${raw(script)}</script>`,
    }),
  );
}

/** The source expression of an inline script or style sheet in a content security policy. */
const digest = (text: string): string => `sha256-${createHash("sha256").update(text).digest("base64")}`;
