/**
 * The guide: README.md and the pages of `docs/` as HTML without scripts, which the service shows at `/docs/<page>`, offline. Written by
 * `build-console.ts` into the folder `guide/` beside its pages. Pure but for `readGuide`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Marked, type Tokens } from 'marked';
import { escapeHtml, htmlPage } from '../../http/pages/html.ts';
import { projectRoot } from '../launch/environment.ts';

/** Pages by name: `errors` is `docs/errors.md`, `readme` is README.md. */
export function readGuide(): Map<string, string> {
  const paths = guideSources().map((path): [string, string] => [pageOf(path), readFileSync(join(projectRoot, path), 'utf8')]);
  const names = new Set(paths.map(([name]) => name));
  return new Map(paths.map(([name, text]) => [name, renderPage(text, names)]));
}

/** Relative to the project. */
export function guideSources(): string[] {
  const pages = readdirSync(join(projectRoot, 'docs')).filter((file) => file.endsWith('.md'));
  return ['README.md', ...pages.sort().map((file) => join('docs', file))];
}

function pageOf(path: string): string {
  return basename(path, '.md').toLowerCase();
}

/** As GitHub makes anchors of headings. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');
}

function renderPage(text: string, names: ReadonlySet<string>): string {
  const title = /^# (.+)$/m.exec(text)?.[1] ?? 'Moniker';
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text: heading }: Tokens.Heading) {
        return `<h${depth} id="${anchorOf(heading)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      // Files that are not in the guide, such as the examples, are named only.
      link({ href, tokens }: Tokens.Link) {
        const inner = this.parser.parseInline(tokens);
        const [path = '', anchor] = href.split('#');
        const place = anchor === undefined ? '' : `#${anchor}`;
        if (/^https?:/.test(href)) return `<a href="${escapeHtml(href)}" rel="noopener noreferrer">${inner}</a>`;
        if (path === '') return `<a href="${escapeHtml(place)}">${inner}</a>`;
        const page = pageOf(path);
        const isPage = /^(?:docs\/|\.\.\/)?[A-Za-z-]+\.md$/.test(path) && names.has(page);
        return isPage ? `<a href="/docs/${page}${escapeHtml(place)}">${inner}</a>` : inner;
      },
      image: ({ text: shown }: Tokens.Image) => escapeHtml(shown),
      // Anchors are kept; comments say how tests run a block.
      html: ({ text: html }: Tokens.HTML | Tokens.Tag) =>
        /^\s*<!--/.test(html) ? '' : /^\s*(?:<a id="[\w-]+">|<\/a>)/.test(html) ? html : escapeHtml(html),
    },
  });
  const navigation = '<nav><a href="/docs/readme">Guide</a><a href="/docs">API reference</a><a href="/console">Console</a></nav>';
  return htmlPage(`${title.replaceAll('`', '')} · Moniker`, `${navigation}\n<main class="guide">\n${marked.parse(text)}</main>`);
}
