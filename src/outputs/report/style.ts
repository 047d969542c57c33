import { baseStyle, FONT, light } from "../html/document.ts";

/** How the report looks: light and dark, from 320 px up, and on A4. */
export const stylesheet = `
${baseStyle({
  light: `--accent: #1f5bbd; --bar: #2f66bf; --rest: #8796a8; --track: #e9edf2; --grid: #e1e6ec; --mark: #a4480c;
    --good: #12613b; --bad: #9c1c1c; --bad-ground: #fdecec; --cover: #12233b; --cover-text: #f3f6fa; --cover-quiet: #b3c2d6;`,
  dark: `--accent: #7fb0ff; --bar: #6ea2f5; --rest: #76869a; --track: #232d38; --grid: #27323e; --mark: #f0a56b;
    --good: #86e3b4; --bad: #ffaaaa; --bad-ground: #371a1c; --cover: #131d2b; --cover-text: #eef3f9; --cover-quiet: #a5b5ca;`,
})}
html { scroll-padding-top: 56px; }
body { margin: 0; background: var(--card); color: var(--text); font: 15.5px/1.55 ${FONT}; font-variant-numeric: tabular-nums; }
.cover, main, footer { max-width: 1120px; margin: 0 auto; padding: 0 28px; }
header { background: var(--cover); color: var(--cover-text); padding: 34px 0 30px; }
.brand { color: var(--cover-quiet); font-size: 14px; letter-spacing: 0.02em; }
h1 { font-size: clamp(32px, 6vw, 52px); line-height: 1.12; font-weight: 300; letter-spacing: -0.025em; margin: 26px 0 22px; }
.facts { display: flex; flex-wrap: wrap; gap: 8px 44px; } .facts dt { color: var(--cover-quiet); font-size: 13px; }
nav { position: sticky; top: 0; z-index: 1; background: var(--card); border-bottom: 1px solid var(--line); font-size: 14px; }
nav > ul { max-width: 1120px; margin: 0 auto; padding: 0 28px; }
.sections { display: flex; flex-wrap: wrap; gap: 0 26px; } nav a { display: inline-block; padding: 9px 0; color: var(--text); text-decoration: none; } nav a:hover { text-decoration: underline; }
.companies { position: static; } .companies > li { display: grid; grid-template-columns: minmax(110px, 190px) minmax(0, 1fr); gap: 16px; border-top: 1px solid var(--line); } .companies > li:first-child { border-top: 0; } .companies > li > a { font-weight: 600; overflow-wrap: anywhere; }
nav:has(.companies) { position: static; }
h2 { font-size: 27px; line-height: 1.25; font-weight: 600; letter-spacing: -0.015em; margin: 34px 0 6px; overflow-wrap: anywhere; }
h3 { font-size: 30px; line-height: 1.2; font-weight: 300; letter-spacing: -0.02em; padding-top: 30px; margin-top: 52px; border-top: 3px solid var(--text); }
h4 { font-size: 17px; line-height: 1.35; font-weight: 650; letter-spacing: -0.005em; }
article + article { border-top: 1px solid var(--line); margin-top: 70px; padding-top: 12px; }
.lead { max-width: 74ch; color: var(--quiet); margin: 8px 0 4px; font-size: 16px; }
.fresh { padding-left: 19px; position: relative; max-width: 100ch; overflow-wrap: anywhere; } .fresh::before, .swatch { -webkit-print-color-adjust: exact; print-color-adjust: exact; } .fresh::before { content: ""; position: absolute; left: 0; top: 8px; width: 10px; height: 10px; border-radius: 50%; background: currentColor; }
.fresh.good::before { color: var(--good); } .fresh.bad { color: var(--bad); }
.tiles { display: grid; grid-template-columns: repeat(4, minmax(0, 1fr)); margin: 26px 0 0; border-top: 1px solid var(--line); border-left: 1px solid var(--line); }
.tile { padding: 16px 18px 18px; border: solid var(--line); border-width: 0 1px 1px 0; display: flex; flex-direction: column; }
.tile dt { font-weight: 600; font-size: 14.5px; } .tile dt .quiet { display: block; font-weight: 400; line-height: 1.4; }
.tile dd { margin-top: 10px; }
.large { display: block; font-size: 27px; line-height: 1.2; font-weight: 300; letter-spacing: -0.02em; overflow-wrap: anywhere; } .large .code, .large .of { font-size: 16px; letter-spacing: 0; color: var(--quiet); font-weight: 400; }
.lines { margin-top: 8px; font-size: 14px; line-height: 1.65; } .code { color: var(--quiet); font-size: 0.9em; } .change { color: var(--quiet); font-size: 13.5px; white-space: nowrap; }
.block { margin-top: 36px; } .note { max-width: 82ch; color: var(--quiet); font-size: 14px; margin-top: 2px; }
.absent { margin-top: 10px; padding: 12px 16px; border-left: 3px solid var(--line); color: var(--quiet); max-width: 90ch; }
.panels { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 310px), 1fr)); gap: 30px 40px; margin: 16px 0 6px; }
.panels.small { grid-template-columns: repeat(auto-fill, minmax(min(100%, 230px), 1fr)); gap: 26px 36px; }
.panels.single .panel { grid-column: span 3; display: grid; grid-template-columns: minmax(0, 460px) minmax(0, 340px); gap: 14px 48px; align-items: center; } .panels.single .panel-title { grid-column: 1 / -1; }
.panel { min-width: 0; } .panel-title { font-weight: 600; font-size: 14px; margin-bottom: 8px; border-bottom: 1px solid var(--line); padding-bottom: 4px; overflow-wrap: anywhere; }
.panels.small .panel-title { border: 0; padding: 0; margin-bottom: 2px; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
figcaption { color: var(--quiet); font-size: 13.5px; line-height: 1.45; margin-top: 8px; overflow-wrap: anywhere; } .single figcaption { font-size: 15.5px; color: var(--text); margin: 0; }
.picture { display: block; width: 100%; height: auto; overflow: visible; font-size: 12px; }
.picture text { fill: var(--text); } .picture .tick { fill: var(--quiet); font-size: 11px; } .picture .year { font-size: 10.5px; }
.picture .grid { stroke: var(--grid); } .picture .axis { stroke: var(--quiet); } .picture .track { fill: var(--track); } .picture .reach { fill: transparent; }
.picture .solid { fill: var(--bar); } .picture .outline { fill: none; stroke: var(--bar); stroke-width: 1.3; } .picture .rest .solid { fill: var(--rest); }
.picture .mark { stroke: var(--mark); stroke-width: 2; } .picture .value { font-weight: 600; }
.picture .point:hover .reach { fill: var(--track); opacity: 0.5; } .picture .stroke { fill: none; stroke: var(--bar); stroke-width: 2; stroke-linejoin: round; stroke-linecap: round; } .picture .fill { fill: var(--bar); opacity: 0.1; }
.picture .dot { fill: var(--card); stroke: var(--bar); stroke-width: 1.3; } .picture .last { fill: var(--bar); }
.legend { display: flex; flex-wrap: wrap; gap: 4px 20px; font-size: 13.5px; margin-top: 8px; } .legend li { display: flex; align-items: center; gap: 7px; }
.swatch { width: 22px; height: 8px; } .swatch.solid { background: var(--bar); } .swatch.outline { border: 1.5px solid var(--bar); }
details { margin-top: 8px; } summary { cursor: pointer; color: var(--accent); font-size: 14px; width: fit-content; padding: 3px 0; }
.scroll { position: relative; overflow-x: auto; margin-top: 8px; }
table { border-collapse: collapse; width: 100%; font-size: 14px; line-height: 1.4; }
th, td { text-align: left; vertical-align: top; padding: 6px 16px 6px 0; border-bottom: 1px solid var(--line); font-weight: 400; } th:last-child, td:last-child { padding-right: 0; }
thead th { color: var(--quiet); font-size: 13px; vertical-align: bottom; border-bottom: 1.5px solid var(--text); } tbody .start > * { border-top: 2px solid var(--line); }
.n { text-align: right; white-space: nowrap; } thead .n { white-space: normal; } .fact { white-space: nowrap; } td bdi { overflow-wrap: anywhere; display: inline-block; max-width: 34ch; }
footer { margin-top: 64px; padding-top: 16px; padding-bottom: 36px; color: var(--quiet); font-size: 13.5px; border-top: 1px solid var(--line); }
@media (max-width: 960px) { .tiles { grid-template-columns: repeat(2, minmax(0, 1fr)); } .panels.single .panel { grid-column: auto; grid-template-columns: minmax(0, 1fr); } }
@media (max-width: 640px) {
  .cover, main, footer, nav > ul { padding-left: 16px; padding-right: 16px; } header { padding: 22px 0 20px; } h1 { margin: 14px 0 16px; } .facts { gap: 8px 28px; }
  nav { position: static; } .sections { gap: 0 20px; } .companies > li { grid-template-columns: minmax(0, 1fr); gap: 0; }
  h3 { font-size: 25px; margin-top: 40px; } .tile { padding: 12px; } .large { font-size: 21px; } .tile dt .quiet { font-size: 12px; }
}
@media (max-width: 420px) { .tiles { grid-template-columns: minmax(0, 1fr); } .large { font-size: 25px; } }
@page { size: A4; margin: 15mm 14mm 16mm; }
@media print {
  :root { color-scheme: light; ${light} --accent: #1f5bbd; --bar: #2f66bf; --rest: #8796a8; --track: #e9edf2; --grid: #d5dce4; --mark: #a4480c; --good: #12613b; --bad: #9c1c1c; --cover: #fff; --cover-text: #18212c; --cover-quiet: #556272; --card: #fff; --line: #cfd6de; }
  body { font-size: 10pt; } nav, .skip { display: none; } header { padding: 0; } h1 { font-size: 30pt; margin: 8mm 0 6mm; }
  .cover, main, footer { padding: 0; max-width: none; }
  section, article + article { break-before: page; } h3 { margin-top: 0; font-size: 20pt; padding-top: 4mm; } h2, h3, h4, .note, .lead, .panel-title, summary, .legend { break-after: avoid; }
  .panel, tr, .tile, .absent, .picture { break-inside: avoid; } thead { display: table-header-group; } tbody tr:first-child { break-before: avoid; } .block { margin-top: 8mm; }
  .tiles { grid-template-columns: repeat(4, minmax(0, 1fr)); } .large { font-size: 15pt; } .large .code, .large .of { font-size: 10pt; } .lines { font-size: 9pt; } .quiet, .note, figcaption, .tile dt .quiet { font-size: 8.5pt; } .tile { padding: 3mm; }
  .drawn, .lead { break-inside: avoid; } .lead, .note { max-width: none; } .panels.small .panel-title { white-space: normal; } .panels:not(.single) .picture { max-width: 76mm; } .panels { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 6mm 10mm; } .panels.small { grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 5mm 8mm; } .panels.single { grid-template-columns: minmax(0, 1fr); } .panels.single .panel { grid-column: auto; grid-template-columns: 95mm minmax(0, 1fr); gap: 2mm 8mm; } .single figcaption { font-size: 9.5pt; } .lead { font-size: 10.5pt; }
  .scroll { overflow: visible; } table { font-size: 8pt; } th, td { padding: 1mm 2.5mm 1mm 0; } thead th { font-size: 8pt; } .n, .fact { white-space: nowrap; }
  details::details-content { content-visibility: visible; block-size: auto; } summary { list-style: none; color: var(--quiet); font-size: 8.5pt; } summary::-webkit-details-marker { display: none; }
  footer { break-before: avoid; margin-top: 8mm; }
}
`;
