import { baseStyle, FONT } from "../../outputs/html/document.ts";

/** How the page looks: light and dark, from 320 px up. */
export const stylesheet = `
${baseStyle({
  light: `--accent: #2563c9;
    --rows: #3b6fd0; --changes: #0c8a7c; --rejects: #c93b3b; --track: #e6eaf0; --none: #c6ced8;
    --good: #1f9d61; --good-text: #12613b; --good-ground: #ddf3e6;
    --warn: #d98e04; --warn-text: #774a00; --warn-ground: #fdeecb;
    --bad: #d03636; --bad-text: #9c1c1c; --bad-ground: #fde3e3;
    --idle: #94a0b0; --idle-text: #475466; --idle-ground: #e7ecf2;
    --shadow: 0 1px 2px rgb(20 30 45 / 0.05), 0 4px 14px rgb(20 30 45 / 0.04);`,
  dark: `--accent: #7fb0ff;
    --rows: #76a7ff; --changes: #3fcdb9; --rejects: #ff7b7b; --track: #232d38; --none: #3a4653;
    --good: #37c07f; --good-text: #86e3b4; --good-ground: #12331f;
    --warn: #e0a52c; --warn-text: #f4cd7c; --warn-ground: #3a2b08;
    --bad: #f06464; --bad-text: #ffaaaa; --bad-ground: #421a1c;
    --idle: #6c7a8b; --idle-text: #b6c2d0; --idle-ground: #25303c;
    --shadow: none;`,
})}
body {
  margin: 0 auto; max-width: 1160px; padding: 20px 24px 32px; background: var(--ground); color: var(--text);
  font: 15px/1.5 ${FONT}; font-variant-numeric: tabular-nums;
}
h1 { font-size: 27px; line-height: 1.25; letter-spacing: -0.015em; font-weight: 650; }
h2 { font-size: 17px; line-height: 1.3; font-weight: 650; }
h3 { font-size: 15px; margin: 16px 0 8px; }
code { background: var(--idle-ground); padding: 1px 5px; border-radius: 4px; }
.bad { color: var(--bad-text); } .warn { color: var(--warn-text); } .good { color: var(--good-text); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 12px; box-shadow: var(--shadow); }

header { display: flex; justify-content: space-between; align-items: center; gap: 12px; flex-wrap: wrap; margin-bottom: 26px; }
.brand { display: flex; align-items: center; gap: 7px; font-weight: 650; letter-spacing: -0.01em; }
.brand svg { fill: none; stroke: var(--accent); stroke-width: 2.6; stroke-linecap: round; }
.place, footer { color: var(--quiet); font-size: 13px; }
main > * { margin-bottom: 28px; }
.heading { display: flex; justify-content: space-between; align-items: baseline; gap: 4px 16px; flex-wrap: wrap; margin-bottom: 10px; }
.heading p, .heading ul { color: var(--quiet); font-size: 13px; }
h2:not(.heading h2) { margin-bottom: 10px; }
.verdict { padding-left: 30px; position: relative; margin-bottom: 18px; }
.verdict::before { content: ""; position: absolute; left: 2px; top: 10px; width: 15px; height: 15px; border-radius: 50%; background: var(--idle); box-shadow: 0 0 0 5px var(--idle-ground); }
.verdict.good, .verdict.warn, .verdict.bad { color: inherit; }
.verdict.good::before { background: var(--good); box-shadow: 0 0 0 5px var(--good-ground); }
.verdict.warn::before { background: var(--warn); box-shadow: 0 0 0 5px var(--warn-ground); }
.verdict.bad::before { background: var(--bad); box-shadow: 0 0 0 5px var(--bad-ground); }
.tiles { display: grid; grid-template-columns: repeat(4, 1fr); gap: 12px; }
.tile { padding: 12px 16px 13px; }
.tile dt { color: var(--quiet); font-size: 13px; }
.tile .large { display: block; font-size: 19px; line-height: 1.4; font-weight: 600; letter-spacing: -0.01em; }
.pill { display: inline-block; padding: 1px 9px; border-radius: 99px; font-size: 12.5px; font-weight: 600; line-height: 20px; white-space: nowrap; background: var(--idle-ground); color: var(--idle-text); }
.pill.good { background: var(--good-ground); color: var(--good-text); }
.pill.warn { background: var(--warn-ground); color: var(--warn-text); }
.pill.bad { background: var(--bad-ground); color: var(--bad-text); }

.still { padding: 12px 16px; color: var(--quiet); }
#live .card:not(.still) { padding: 16px; }
progress { appearance: none; display: block; width: 100%; height: 6px; border: 0; border-radius: 3px; background: var(--track); overflow: hidden; }
progress::-webkit-progress-bar { background: var(--track); border-radius: 3px; }
progress::-webkit-progress-value { background: var(--accent); border-radius: 3px; transition: width 0.9s linear; }
progress::-moz-progress-bar { background: var(--accent); border-radius: 3px; }
progress:indeterminate::-webkit-progress-bar { background: linear-gradient(90deg, var(--track) 30%, var(--accent) 50%, var(--track) 70%) 0 0 / 250% 100%; animation: pass 1.6s linear infinite; }
progress:indeterminate::-moz-progress-bar { background: linear-gradient(90deg, var(--track) 30%, var(--accent) 50%, var(--track) 70%) 0 0 / 250% 100%; animation: pass 1.6s linear infinite; }
@keyframes pass { from { background-position: 100% 0; } to { background-position: -66% 0; } }
@media (prefers-reduced-motion: reduce) { * { animation: none !important; transition: none !important; } }
.whole { margin-bottom: 16px; } .whole progress { height: 8px; margin-bottom: 6px; }
.going { display: grid; grid-template-columns: repeat(auto-fill, minmax(230px, 1fr)); gap: 14px 24px; margin-bottom: 14px; }
.going li { display: grid; grid-template-columns: 1fr auto; gap: 3px 8px; align-items: baseline; min-width: 0; }
.going progress, .going .quiet { grid-column: 1 / -1; }
.going .name { font-weight: 600; overflow-wrap: anywhere; } .going .state { font-size: 13px; color: var(--quiet); }
.going .waiting .name { font-weight: 400; color: var(--quiet); }
.going .done progress::-webkit-progress-value { background: var(--good); } .going .done progress::-moz-progress-bar { background: var(--good); }
.going .failed progress::-webkit-progress-value { background: var(--bad); } .going .failed progress::-moz-progress-bar { background: var(--bad); }
.going .failed .state { color: var(--bad-text); font-weight: 600; }

.concerns { display: grid; gap: 10px; }
.concern { padding: 13px 16px; border-left: 4px solid var(--bad); overflow-wrap: anywhere; }
.concern.warn { color: inherit; border-left-color: var(--warn); } .concern.bad { color: inherit; }
.concern .what { font-weight: 600; } .concern .quiet { margin-top: 5px; }
summary { padding: 10px 16px; color: var(--quiet); font-size: 14px; cursor: pointer; border-radius: 12px; }
.past li { padding: 11px 16px; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
.past li:first-child { border-top: 0; }

.streams { table-layout: fixed; } .streams th:first-child { width: 21%; } .streams th:nth-child(2) { width: 14%; } .streams th:nth-child(3) { width: 16%; }
.streams td:nth-child(3) .quiet { white-space: nowrap; }
table { width: 100%; border-collapse: separate; border-spacing: 0; }
th, td { text-align: left; padding: 10px 12px; vertical-align: middle; font-weight: 400; }
th:first-child, td:first-child { padding-left: 16px; } th:last-child, td:last-child { padding-right: 16px; }
thead th { color: var(--quiet); font-size: 13px; padding-top: 10px; padding-bottom: 8px; }
tbody th, tbody td { border-top: 1px solid var(--line); }
.streams td > .quiet, .streams th > .quiet, .runs th > .quiet { display: block; line-height: 1.4; }
.streams .name { font-weight: 600; overflow-wrap: anywhere; }
.fact { white-space: nowrap; }
.off .chart { opacity: 0.55; }
.measure { display: flex; align-items: center; gap: 10px; }
.measure .number { min-width: 6ch; text-align: right; font-size: 13px; color: var(--quiet); }
.measure .number.bad { color: var(--bad-text); font-weight: 600; }
.chart { flex: 0 1 110px; min-width: 0; line-height: 0; }
.chart svg { width: 100%; height: auto; overflow: visible; }
.chart .fill { fill: currentColor; opacity: 0.14; } .chart .stroke { fill: none; stroke: currentColor; stroke-width: 1.6; stroke-linejoin: round; stroke-linecap: round; }
.chart .dot, .chart .column { fill: currentColor; } .chart .none { fill: var(--none); }
.chart .gap { fill: var(--card); }
.chart .point { fill: transparent; } .chart .point:hover { fill: currentColor; opacity: 0.12; }
.chart.rows { color: var(--rows); } .chart.changes { color: var(--changes); } .chart.rejects { color: var(--rejects); }

.legend { display: flex; gap: 14px; flex-wrap: wrap; } .legend li { display: flex; align-items: center; gap: 6px; }
.swatch { width: 14px; height: 7px; border-radius: 2px; background: var(--idle); }
.swatch.good { background: var(--good); } .swatch.warn { background: var(--warn); } .swatch.bad { background: var(--bad); }
.bars { display: block; } .bars rect { fill: var(--idle); } .bars svg:hover rect { opacity: 0.7; }
.bars .good rect { fill: var(--good); } .bars .warn rect { fill: var(--warn); } .bars .bad rect { fill: var(--bad); }
.named text { font-size: 11.5px; font-weight: 600; fill: var(--idle-text); } .named rect { fill: var(--idle-ground); }
.named .good text { fill: var(--good-text); } .named .warn text { fill: var(--warn-text); } .named .bad text { fill: var(--bad-text); }
.named .good rect { fill: var(--good-ground); } .named .warn rect { fill: var(--warn-ground); } .named .bad rect { fill: var(--bad-ground); }
.bars .edge { fill: var(--idle); } .bars .good .edge { fill: var(--good); } .bars .warn .edge { fill: var(--warn); } .bars .bad .edge { fill: var(--bad); }
.share { display: block; margin-top: 5px; max-width: 110px; } .share .none { fill: var(--track); } .share.good .some { fill: var(--good); } .share.warn .some { fill: var(--warn); }
.axis { display: block; overflow: visible; } .axis text { font-size: 11.5px; fill: var(--quiet); }
.runs { table-layout: fixed; }
.runs th:nth-child(1) { width: 176px; } .runs th:nth-child(2) { width: 130px; } .runs th:nth-child(3) { width: 104px; }
.runs th, .runs td { padding-top: 8px; padding-bottom: 8px; }
.right { text-align: right; }
.cut .bars { mask-image: linear-gradient(90deg, #000 88%, transparent); }
details .runs { border-top: 1px solid var(--line); }
footer { display: flex; justify-content: space-between; gap: 12px; flex-wrap: wrap; }

@media (max-width: 760px) { .tiles { grid-template-columns: 1fr 1fr; } }
@media (max-width: 1040px) {
  body { padding: 14px 14px 24px; }
  header { margin-bottom: 20px; }
  h1 { font-size: 22px; } .verdict::before { top: 7px; }
  .tiles { gap: 10px; } .tile { padding: 10px 12px; } .tile .large { font-size: 16px; }
  .streams, .streams tbody, .runs, .runs tbody { display: block; }
  .streams thead, .runs thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .streams tr { display: grid; grid-template-columns: repeat(6, 1fr); gap: 8px 14px; padding: 13px 14px; border-top: 1px solid var(--line); }
  .streams tr:first-child, .runs tr:first-child { border-top: 0; }
  .streams th:nth-child(n), .streams td:nth-child(n), .runs th:nth-child(n), .runs td:nth-child(n) { padding: 0; border: 0; width: auto; min-width: 0; }
  .streams th { grid-column: 1 / -1; } .streams td { grid-column: span 2; } .streams td:nth-child(2), .streams td:nth-child(3) { grid-column: span 3; }
  .streams td::before { content: attr(data-title); display: block; color: var(--quiet); font-size: 12px; margin-bottom: 3px; }
  .measure { display: block; max-width: 190px; } .measure .number { display: block; text-align: left; }
  .runs tr { display: grid; grid-template-columns: 1fr auto auto; gap: 6px 12px; align-items: center; padding: 11px 14px; border-top: 1px solid var(--line); }
  .runs th > .quiet { display: none; } .named .long { display: none; }
  .runs .track { grid-column: 1 / -1; }
}
`;
