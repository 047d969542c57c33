/** The colours that every page has, light and dark: the ground, what lies on it, and the writing. Each page adds its own. */
export const light = "--ground: #f4f6f8; --card: #ffffff; --line: #e1e6ec; --text: #18212c; --quiet: #556272;";
export const dark = "--ground: #0e1319; --card: #161d26; --line: #27323e; --text: #e7edf4; --quiet: #9dabbb;";

/** What every page begins with, and words that are only heard. */
export const basics = `* { box-sizing: border-box; }
h1, h2, h3, h4, p, ul, dl, dd, figure { margin: 0; }
ul { padding: 0; list-style: none; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
.skip { position: absolute; left: -999px; } .skip:focus { left: 12px; top: 8px; background: var(--card); padding: 4px 10px; }
.unseen { position: absolute; width: 1px; height: 1px; margin: -1px; padding: 0; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.quiet { color: var(--quiet); font-size: 13px; }`;
