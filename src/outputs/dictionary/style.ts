import { baseStyle, FONT, MONOSPACE } from "../html/document.ts";

/** How the dictionary looks: light and dark, from 320 px up, and on paper. */
export const stylesheet = `
${baseStyle({
  light: `--accent: #1f5bbd;
    --pill: #e7ecf2; --pill-text: #475466; --mark: #fdeecb; --sure: #3b6fd0; --maybe: #8a5a00; --edge: #9aa7b5; --elsewhere: #eef1f5;`,
  dark: `--accent: #7fb0ff;
    --pill: #25303c; --pill-text: #b6c2d0; --mark: #3a2b08; --sure: #76a7ff; --maybe: #e0a52c; --edge: #4b5a6a; --elsewhere: #232d38;`,
})}
html { scroll-padding-top: 72px; }
body {
  margin: 0; background: var(--ground); color: var(--text); display: grid; grid-template: "header header" auto "nav main" 1fr / 290px minmax(0, 1fr);
  font: 15px/1.5 ${FONT};
}
header { grid-area: header; position: sticky; top: 0; z-index: 1; display: flex; align-items: center; gap: 12px 28px; padding: 10px 28px; background: var(--ground); border-bottom: 1px solid var(--line); }
nav { grid-area: nav; padding: 14px 8px 28px 28px; font-size: 13px; position: sticky; top: 59px; align-self: start; height: calc(100vh - 59px); overflow-y: auto; }
main { grid-area: main; padding: 14px 28px 40px 20px; max-width: 1220px; }
h1 { font-size: 20px; line-height: 1.25; letter-spacing: -0.01em; white-space: nowrap; }
h2 { font-size: 20px; margin: 34px 0 10px; } h3 { font-size: 16.5px; overflow-wrap: anywhere; }
h3 a, nav a { color: inherit; text-decoration: none; } h3 a:hover, nav a:hover { text-decoration: underline; }
.brand { font-weight: 400; color: var(--quiet); }
.pill { display: inline-block; padding: 0 7px; border-radius: 99px; font: 600 12px/18px system-ui, sans-serif; background: var(--pill); color: var(--pill-text); white-space: nowrap; }
search { display: block; position: relative; flex: 1 1 320px; max-width: 720px; } search[hidden] { display: none; }
input { width: 100%; font: inherit; color: inherit; background: var(--card); border: 1px solid var(--edge); border-radius: 8px; padding: 7px 12px; } ::placeholder { color: var(--quiet); opacity: 1; }
.hits { position: absolute; inset: 100% 0 auto; background: var(--card); border-radius: 0 0 8px 8px; box-shadow: 0 8px 24px rgb(0 0 0 / 0.25); } #hits { padding: 4px 12px; color: var(--quiet); font-size: 13px; } #hits:empty { padding: 0; }
#found { max-height: 62vh; overflow-y: auto; } #found:empty { display: none; }
#found a { display: block; padding: 6px 12px; color: inherit; text-decoration: none; border-top: 1px solid var(--line); }
#found a:hover, #found a:focus { background: var(--pill); outline-offset: -2px; } #found .quiet { display: block; }
nav > ul > li { margin: 7px 0; font-weight: 600; } nav ul ul { margin: 2px 0 0 10px; } nav ul ul li { font-weight: 400; line-height: 1.45; } 
.points { padding-left: 18px; list-style: disc; } .points li { margin: 4px 0; }
.entry { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 15px 18px; margin: 16px 0; scroll-margin-top: 8px; content-visibility: auto; contain-intrinsic-size: auto 1000px; }
.entry:target { outline: 2px solid var(--accent); } tr:target > * { background: var(--mark); }
.lead { margin: 4px 0 10px; max-width: 80ch; }
dl { display: grid; gap: 3px; margin-bottom: 12px; font-size: 14px; } dl div { display: grid; grid-template-columns: 150px minmax(0, 1fr); gap: 10px; } dt { color: var(--quiet); }
summary { cursor: pointer; color: var(--quiet); }
table { width: 100%; border-collapse: collapse; font-size: 14px; background: var(--card); }
th, td { text-align: left; vertical-align: top; padding: 5px 10px 5px 0; border-top: 1px solid var(--line); font-weight: 400; }
thead th { color: var(--quiet); font-size: 13px; border-top: 0; } tbody th { width: 24%; }
.types { width: 23%; } .types code { font-size: 12px; } .types .quiet { display: block; }
td .quiet { display: block; } .examples { width: 17%; } .examples code { display: block; }
#streams table, #engine table { border-radius: 12px; } #streams th, #streams td, #engine th, #engine td { padding-left: 12px; }
figure { margin: 10px 0 4px; } .scroll { overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 12px; }
.diagram { display: block; font: 12px ${MONOSPACE}; }
.diagram rect { fill: var(--card); stroke: var(--edge); } .diagram text { fill: var(--text); } .diagram .more { fill: var(--quiet); font-size: 11px; }
.diagram .elsewhere rect { fill: var(--elsewhere); stroke-dasharray: 3 2; } .diagram a:hover rect, .diagram a:focus rect { stroke: var(--accent); stroke-width: 2; }
.diagram path { fill: none; stroke: var(--sure); stroke-width: 1.4; } .diagram path.assumed { stroke: var(--maybe); stroke-dasharray: 5 4; } .diagram circle { fill: var(--sure); } .diagram circle.assumed { fill: var(--maybe); }
figcaption { padding: 4px 2px; font-size: 13px; } figcaption li { overflow-wrap: anywhere; }
@media (max-width: 900px) {
  html { scroll-padding-top: 108px; }
  body { display: block; } header { flex-wrap: wrap; padding: 10px 16px; } nav { position: static; height: auto; max-height: 40vh; padding: 12px 16px; } main { padding: 0 16px 32px; }
  dl div { grid-template-columns: 1fr; gap: 0; } .entry table, .entry tbody, .entry tr, .entry tbody th, .entry td { display: block; width: auto; }
  .entry thead { position: absolute; clip-path: inset(50%); } .entry td { border-top: 0; padding-top: 0; } .types .quiet { display: inline; }
  #streams, #engine { overflow-x: auto; }
}
@media print {
  header { position: static; }
  :root { color-scheme: light; --ground: #fff; --card: #fff; --line: #bbb; --text: #000; --quiet: #333; --accent: #000; --pill: #eee; --pill-text: #000; --edge: #666; --elsewhere: #eee; }
  body { display: block; font-size: 10pt; } nav, search, .skip { display: none; } .entry { border: 0; padding: 0; content-visibility: visible; } tr, .lead, figure { break-inside: avoid; } h2, h3 { break-after: avoid; }
  .scroll { overflow: visible; border: 0; padding: 0; } .diagram { max-width: 100%; height: auto; } thead { display: table-header-group; }
}
`;
