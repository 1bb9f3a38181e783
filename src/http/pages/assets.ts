/** The style of the pages without scripts, as text, so that they work in a deployment without built pages. */

export const pagesCss = `:root { color-scheme: light dark; --line: #8884; --soft: #8881; --accent: #2563eb; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem; font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .25rem; }
h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; border-bottom: 1px solid var(--line); }
a { color: var(--accent); }
code, pre { font: .875rem/1.45 ui-monospace, monospace; }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: .4rem; overflow: auto; padding: .75rem; }
table { border-collapse: collapse; width: 100%; }
td, th { border-bottom: 1px solid var(--line); padding: .3rem .5rem .3rem 0; text-align: left; vertical-align: top; }
details { border: 1px solid var(--line); border-radius: .4rem; margin: .5rem 0; padding: .4rem .75rem; }
details details { background: var(--soft); }
summary { cursor: pointer; }
summary .method { display: inline-block; font-weight: 600; min-width: 4.5rem; text-transform: uppercase; }
.guide table { display: block; overflow-x: auto; }
.guide { overflow-wrap: anywhere; }
.guide tr:has(:target) { background: var(--soft); }
nav a { margin-right: 1rem; }
.muted { opacity: .75; }
.approval { max-width: 44rem; margin: 0 auto; }
.approval .reason { font-size: 1.1rem; overflow-wrap: anywhere; }
.approval dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; }
.approval dt { opacity: .75; }
.approval dd { margin: 0; overflow-wrap: anywhere; }
.approval h3 { font-size: 1rem; font-weight: 400; margin: 1rem 0 .25rem; overflow-wrap: anywhere; }
.approval h3 code { font-weight: 600; }
.approval pre { margin: 0; overflow: hidden; overflow-wrap: anywhere; unicode-bidi: isolate; white-space: pre-wrap; }
.hidden-character { background: #b91c1c; border-radius: .25rem; color: #fff; font: .75rem ui-monospace, monospace; margin: 0 .1rem; padding: 0 .25rem; }
.decide { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; margin: 2rem 0; }
.decide button { border: 0; border-radius: .5rem; color: #fff; cursor: pointer; font: 600 1.15rem system-ui, sans-serif; min-height: 3.5rem; padding: .75rem 1rem; }
.decide .approve { background: #15803d; }
.decide .deny { background: #b91c1c; }
.sign-in { max-width: 26rem; margin: 10vh auto 0; }
.sign-in .problem { border-left: .25rem solid #b91c1c; padding-left: .75rem; overflow-wrap: anywhere; }
.sign-in form { display: grid; gap: .5rem; margin: 1rem 0; }
.sign-in input, .sign-in button, .sign-in .provider { border: 1px solid var(--line); border-radius: .4rem; font: inherit; padding: .6rem .75rem; width: 100%; }
.sign-in button { background: var(--accent); color: #fff; cursor: pointer; }
.sign-in .provider { display: block; text-align: center; text-decoration: none; }
`;
