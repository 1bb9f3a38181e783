// biome-ignore-all lint/suspicious/noTemplateCurlyInString: samples of source text, with their templates
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, relative, resolve, sep } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findViolations, importsOf, type Source } from './architecture-rules.ts';
import { blankComments } from './source-text.ts';
import { printStatistics } from './statistics.ts';

const root = resolve(import.meta.dirname, '..');

function readSources(folder: string): Source[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !entry.name.endsWith('.d.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ path: relative(root, path).split(sep).join('/'), content: readFileSync(path, 'utf8') }));
}

describe('the source tree', () => {
  const sources = readSources('src');

  it('respects its floors, has no import cycle and follows the rules of this repository', () => {
    expect(sources.length).toBeGreaterThan(20);
    expect(findViolations(sources)).toEqual([]);
  });

  it('loads the MCP SDK and the sandbox engine only when a request needs them', () => {
    const contents = new Map(sources.map(({ path, content }) => [path, content]));
    const reached = new Set(['src/worker.ts']);
    const outside = new Set<string>();
    for (const path of reached) {
      // Type imports are erased, and `await import(…)` loads on demand.
      for (const [, specifier = ''] of (contents.get(path) ?? '').matchAll(/^(?:import|export) (?!type )[^;]*?from '([^']+)';$/gm))
        if (specifier.startsWith('.')) reached.add(posix.join(posix.dirname(path), specifier));
        else outside.add(specifier);
    }
    expect(reached.size).toBeGreaterThan(300);
    expect([...outside]).toContain('zod');
    expect([...outside].filter((name) => name.startsWith('@modelcontextprotocol/') || name.startsWith('quickjs-wasi'))).toEqual([]);
  });

  it('refers to sections of docs/contract.md that exist', () => {
    const contract = readFileSync(join(root, 'docs/contract.md'), 'utf8');
    const sections = new Set([...contract.matchAll(/^## (\d+)\. /gm)].map(([, number]) => number));
    const references = sources.flatMap(({ path, content }) =>
      [...content.matchAll(/contract\s+(?:\* )?§(\d+)/g)].map(([, number]) => ({ path, number })),
    );
    expect(references.length).toBeGreaterThan(50);
    expect(references.filter(({ number }) => !sections.has(number))).toEqual([]);
  });

  it('exports each name from one file only', () => {
    const files = new Map<string, string[]>();
    for (const { path, content } of sources)
      for (const [, name = ''] of content.matchAll(/^export (?:async )?(?:function\*?|const|class|type|interface) (\w+)/gm))
        files.set(name, [...new Set([...(files.get(name) ?? []), path])]);
    expect([...files].filter(([, paths]) => paths.length > 1)).toEqual([]);
  });

  it('shows its longest files', () => {
    const longest = sources
      .map(({ path, content }) => ({ path, lines: content.split('\n').length - 1 }))
      .sort((a, b) => b.lines - a.lines)
      .slice(0, 8);
    printStatistics(`longest files:\n${longest.map(({ path, lines }) => `${String(lines).padStart(6)}  ${path}`).join('\n')}`);
    expect(longest[0]?.lines).toBeLessThan(600);
  });
});

describe('the rules', () => {
  const check = (path: string, content: string, ...others: Source[]): string[] => findViolations([{ path, content }, ...others]);

  it.each([
    ['src/core/a.ts', "import type { B } from '../engine/b.ts';", 'imports ../engine/b.ts, which is not below core'],
    ['src/core/a.ts', "import hono from 'hono';", 'core imports zod and the libraries of onePlace only'],
    ['src/core/a.ts', "import { jsonrepair } from 'jsonrepair';", 'core imports zod and the libraries of onePlace only'],
    ['src/tools/a.ts', "import { b } from '../providers/b.ts';", 'not below tools'],
    ['src/objects/session/a.ts', "import { b } from '../catalog/b.ts';", 'not below objects/session'],
    ['src/http/a.ts', "import { b } from '../local/b.ts';", 'nothing may import the launcher'],
    ['src/http/a.ts', "import { b } from './b';", 'without its extension'],
    ['src/local/a.ts', "import { b } from '../cli/b.ts';", 'nothing imports the commands'],
    ['src/http/a.ts', "import { join } from 'node:path';", 'only local/ and cli/ do'],
    ['src/engine/a.ts', "import { env } from 'cloudflare:workers';", 'below floor 3'],
    ['src/engine/a.ts', 'const now = Date.now();', 'uses the clock'],
    ['src/dialects/a.ts', 'const id = crypto.randomUUID();', 'uses randomness'],
    ['src/engine/a.ts', 'setTimeout(() => {}, 1);', 'uses a timer'],
    ['src/providers/a.ts', 'const response = await fetch(url);', 'calls fetch'],
    ['src/providers/a.ts', 'const send = globalThis.fetch;', 'calls fetch'],
    ['src/providers/a.ts', 'const http = create({ fetch });\nconst response = await fetch(url);', 'calls fetch'],
    ['src/objects/catalog/a.ts', 'this.sql.exec(`select * from ${table}`);', 'builds SQL text'],
    ['src/objects/catalog/a.ts', "this.sql.exec<Row>('select * from ' + table);", 'builds SQL text'],
    ['src/http/a.ts', 'function f(input: string) {\n  const pattern = new RegExp(input);\n}', 'makes a RegExp'],
    ['src/cli/a.ts', "console.log('text');", 'prints; only local/printing.ts does'],
    ['src/local/a.ts', "process.stderr.write('text');", 'prints; only local/printing.ts does'],
    ['src/http/a.ts', '// TODO', 'contains a TODO'],
    ['src/http/a.ts', 'export default 1;', 'default export'],
    ['src/http/a.ts', "export * from './b.ts';", 're-exports'],
    ['src/http/utils.ts', 'export const a = 1;', 'its place was not found'],
    ['src/console/a.tsx', "import { limits } from '../core/limits.ts';", 'the pages import themselves, the client and types of core'],
    ['src/console/a.tsx', "import * as z from 'zod';", 'the pages import preact, preact/hooks'],
    ['src/console/a.tsx', "import { EditorView } from '@codemirror/view';", 'the pages import preact, preact/hooks'],
    ['src/console/a.tsx', 'await fetch(url);', 'calls fetch'],
    ['src/http/a.ts', "import { b } from '../console/b.ts';", 'only pages import pages'],
    ['src/elsewhere/a.ts', 'export const a = 1;', 'is on no floor'],
    ['src/objects/session/client/a.ts', "import { b } from '../object/b.ts';", 'not below objects/shared'],
    ['src/storage/a.ts', "import { b } from './published/b.ts';", 'not below storage'],
    ['src/core/json/a.ts', "import { b } from '../tools/b.ts';", 'imports tools, which is above json in the core'],
    ['src/core/hash.ts', "import { b } from './json/b.ts';", 'imports json, which is above . in the core'],
    ['src/core/elsewhere/a.ts', "import { b } from '../json/b.ts';", 'no place in the order'],
  ])('reports %s: %s', (path, content, expected) => {
    expect(check(path, content).join('\n')).toContain(expected);
  });

  it.each([
    ['src/core/a.ts', "import * as z from 'zod';\nimport type { B } from './b.ts';"],
    ['src/core/json/json-repair.ts', "import { jsonrepair } from 'jsonrepair';"],
    ['src/wiring/create-wiring.ts', "import { b } from '../storage/b.ts';\nimport { c } from '../net/c.ts';"],
    ['src/core/tools/a.ts', "import { b } from '../json/b.ts';\nimport { c } from '../hash.ts';"],
    ['src/objects/session/a.ts', "import { b } from '../catalog/client/b.ts';\nimport { c } from '../shared/c.ts';"],
    ['src/objects/session/client/a.ts', "import { b } from '../../catalog/client/b.ts';\nimport { c } from '../../../storage/c.ts';"],
    ['src/storage/published/a.ts', "import { b } from '../../objects/catalog/client/b.ts';\nimport { c } from '../c.ts';"],
    ['src/worker.ts', 'export default { async fetch(request: Request): Promise<Response> { return app(request); } };'],
    ['src/ports/a.ts', 'export interface A {\n  fetch(request: Request): Promise<Response>;\n}'],
    ['src/tools/a.ts', "const response = await context.fetch(request); // never fetch(url)\nconst text = 'fetch(url)';"],
    ['src/net/a.ts', 'const response = await fetch(url);'],
    ['src/tools/a.ts', 'const tool = {\n  async run({ url }, { fetch }) {\n    return await fetch(url);\n  },\n};'],
    ['src/engine/a.ts', '/* Date.now() comes from the clock */\nconst at = clock.now();\nconst day = new Date(at);'],
    ['src/objects/catalog/a.ts', "this.sql.exec('select * from t where name = ?', name);"],
    ['src/http/a.ts', "const word = '[a-z]';\nexport const pattern = new RegExp(`^${word}$`);\nconst f = () => new RegExp('^a$', 'u');"],
    ['src/console/api/a.ts', "import { createClient } from '../../../client/src/index.ts';\nimport { lexer } from 'marked';"],
    ['src/console/a.tsx', "import { signal } from '@preact/signals';\nimport type { Via } from '../core/names/via.ts';"],
    ['src/console/api/request.ts', 'await fetch(url);'],
    ['src/cli/a.ts', "import { start } from '../local/start.ts';"],
    ['src/local/a.ts', "import { join } from 'node:path';\nimport { limits } from '../core/limits.ts';\nawait fetch(url);"],
  ])('accepts %s: %s', (path, content) => {
    expect(check(path, content)).toEqual([]);
  });

  it('reports a folder of more than 32 files', () => {
    const files = Array.from({ length: 33 }, (_, index): Source => ({ path: `src/http/routes/a${index}.ts`, content: '' }));
    expect(findViolations(files.slice(1))).toEqual([]);
    expect(findViolations(files)).toEqual(['src/http/routes: 33 files; 32 fit']);
  });

  it('names the files of an import cycle', () => {
    const violations = check(
      'src/core/a.ts',
      "import { b } from './b.ts';",
      { path: 'src/core/b.ts', content: "import type { C } from './c.ts';" },
      { path: 'src/core/c.ts', content: "export { a } from './a.ts';" },
    );
    expect(violations).toEqual(['import cycle: src/core/a.ts → src/core/b.ts → src/core/c.ts → src/core/a.ts']);
  });
});

describe('reading sources', () => {
  it('finds every form of import, over several lines too', () => {
    const text =
      "import a from 'a';\nimport type {\n  B,\n} from './b.ts';\nexport { c } from './c.ts';\nimport './d.ts';\nconst e = await import('./e.ts');";
    expect(importsOf(text)).toEqual(['a', './b.ts', './c.ts', './d.ts', './e.ts']);
  });

  it('blanks comments and strings, not the code inside templates, and keeps every offset', () => {
    const source = "const a = 'x // y'; // Date.now()\nconst b = `q ${Date.now()} '`;\nconst c = /['\"`]/.test(a) ? 1 / 2 : 3; /* z */";
    const code = blankComments(source, { strings: true });
    expect(code).toHaveLength(source.length);
    expect(code.match(/Date\.now\(\)/g)).toHaveLength(1);
    expect(code).toContain('.test(a) ? 1 / 2 : 3;');
    expect(code).not.toMatch(/x|y|q|z/);
    expect(blankComments(source)).toContain("'x // y'");
  });
});
