import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { buildConsole } from '../../src/local/build/build-console.ts';

const directory = mkdtempSync(join(tmpdir(), 'moniker-console-'));

const lines: string[] = [];
const print = vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line));

beforeAll(async () => void (await buildConsole(directory)));
afterAll(() => {
  print.mockRestore();
  rmSync(directory, { recursive: true });
});

describe('the built pages', () => {
  it.each(['docs', 'console'])('load files with a hash in their names, and have no inline code: %s', (page) => {
    const html = readFileSync(join(directory, `${page}.html`), 'utf8');
    const assets = [...html.matchAll(/"\/assets\/([^"]+)"/g)].map(([, name = '']) => name);
    // Styles of other views are loaded with their view.
    const ofOtherViews = [...html.matchAll(/disabled data-view="[a-z]+" href="\/assets\/([^"]+)"/g)].map(([, name = '']) => name);
    const own = assets
      .filter((name) => !ofOtherViews.includes(name))
      .map((name) => name.replace(/-[A-Z0-9]{8}/, '-hash'))
      .filter((name) => !name.startsWith('chunk-'));
    expect(own.sort()).toEqual(
      [...(page === 'docs' ? [] : ['chat-page-hash.js']), `${page}-hash.css`, `${page}-hash.js`, 'icon-hash.svg'].sort(),
    );
    for (const name of assets) expect(existsSync(join(directory, 'assets', name))).toBe(true);
    expect(html).not.toMatch(/<style|<script(?! type="module" src="\/assets\/)|\son\w+=|style=|javascript:/i);
    expect(html).toContain('<noscript>');
  });

  it('have their sizes and budgets printed', () => {
    expect(lines).toContainEqual(expect.stringMatching(/^The scripts of \/console: \d+ bytes gzip \(at most \d+\)$/));
  });

  it('need no code from text, no markup from text and no other origin', () => {
    const names = readdirSync(join(directory, 'assets'));
    const text = names.map((name) => readFileSync(join(directory, 'assets', name), 'utf8')).join('\n');
    expect(text).not.toMatch(/\beval\(|new Function\(|insertAdjacentHTML|document\.write|@import/);
    const styles = names.filter((name) => name.endsWith('.css')).map((name) => readFileSync(join(directory, 'assets', name), 'utf8'));
    expect(styles.join('\n')).not.toContain('url(');
    const hosts = [...text.matchAll(/https?:\/\/([\w.-]+)/g)].map(([, host]) => host);
    // Texts only (the browser tests fail on any foreign request): namespaces of XML, examples, default addresses of providers, and a
    // message of the Markdown parser.
    const texts = [
      '127.0.0.1',
      'github.com',
      'www.w3.org',
      'api.anthropic.com',
      'api.cohere.com',
      'api.openai.com',
      'generativelanguage.googleapis.com',
    ];
    const isText = (host = '') => /^(?:[a-z]+\.)?example\.com$/.test(host) || texts.includes(host);
    expect(hosts.filter((host) => !isText(host))).toEqual([]);
  });

  it('are replaced by another build without a moment in which a file is missing', async () => {
    const before = readdirSync(join(directory, 'assets')).sort();
    writeFileSync(join(directory, 'assets/docs-OLD.js'), '');
    await buildConsole(directory);
    expect(readdirSync(join(directory, 'assets')).sort()).toEqual(before);
  });
});
