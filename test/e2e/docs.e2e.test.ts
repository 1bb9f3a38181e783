/**
 * Runs the commands of README.md, docs/ and examples/ as a reader would paste them: all documents in reading order against one new
 * service, so that no page breaks another, and in `npm run test:all` each page also against a separate service. Compares the outputs that
 * are shown, and checks that links resolve and that the reference pages are complete. The conventions are in `document.ts`.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { createServer } from 'node:net';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { differenceFrom, isLike, readAnchors, readDocument, readLinks, type Block, type Document } from './document.ts';
import { environmentHelp } from '../../src/local/launch/environment.ts';
import { selection } from '../selection.ts';
import { root, type Answer } from './service.ts';
import { shareService, type SharedService } from './shared-service.ts';

const documents = [
  ...listMarkdown('.').filter((path) => /^[A-Z]+\.md$/.test(path)),
  ...listMarkdown('docs'),
  ...listMarkdown('examples'),
  ...readdirSync(join(root, 'examples'), { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? listMarkdown(`examples/${entry.name}`) : [],
  ),
].map((path) => readDocument(path));

/** Defines `KEY`, `api` and `pick`, which the other documents use. */
const setup = documents.find(({ path }) => path === 'docs/getting-started.md')?.blocks.find(({ code }) => code.includes('api() {'));
/** Programs import the project's dev dependencies, so their folder is inside the project. */
const programs = join(root, 'node_modules/.cache/docs');

/** README, then the pages in the order of its links, then the rest. */
const readingOrder = ['README.md', ...readLinks(readDocument('README.md'))];
const withCommands = documents.filter(({ blocks }) => blocks.length > 0).sort((one, other) => placeOf(one) - placeOf(other));
const settings = { MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' };

describe('all documents in reading order', () => {
  const service = shareService(settings);
  for (const document of withCommands) describe(document.path, () => runDocument(document, service));
});

if (selection === 'all') {
  describe('each document alone', () => {
    for (const document of withCommands) describe(document.path, () => runDocument(document, shareService(settings)));
  });
}

describe('the documents', () => {
  const exists = new Map(documents.map((document) => [document.path, readAnchors(document)]));
  it.each(documents)('$path has only links that resolve', (document) => {
    const broken = readLinks(document).filter((link) => !/^(https?|mailto):/.test(link) && !resolves(document.path, link));
    expect(broken).toEqual([]);
  });

  function resolves(from: string, link: string): boolean {
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? from : normalize(join(dirname(from), path));
    if (!existsSync(join(root, target))) return false;
    return anchor === undefined || (exists.get(target)?.has(anchor) ?? false);
  }

  it('are all linked from the README', () => {
    const readme = documents.find(({ path }) => path === 'README.md');
    const linked = new Set(readLinks(readme as Document).map((link) => link.split('#')[0]));
    const missing = documents.map(({ path }) => path).filter((path) => path.startsWith('docs/') && !linked.has(path));
    expect(missing).toEqual([]);
  });
});

describe('the reference pages', () => {
  const service = shareService();
  let api: Answer['json'];
  beforeAll(async () => {
    api = (await service.call('GET', '/openapi.json')).json;
  });
  const contract = () => documents.find(({ path }) => path === 'docs/contract.md')?.text ?? '';
  const missingFrom = (text: string, words: readonly string[]) => words.filter((word) => !text.includes(`\`${word}\``));

  it('name every path of the API', () => {
    const paths = Object.keys(api.paths).filter((path) => !path.startsWith('/assets/'));
    expect(missingFrom(contract(), paths)).toEqual([]);
  });

  it('name every problem code and every code of a tool result', () => {
    const { Problem, ToolResultCode } = api.components.schemas;
    const problems = Problem.properties.code.enum;
    expect(missingFrom(contract(), [...problems, ...ToolResultCode.enum])).toEqual([]);
  });

  it('name every event', () => {
    const { anyOf = [] } = api.components.schemas.SessionEvent;
    const events = anyOf.map(({ properties }: { properties: { type: { const: string } } }) => properties.type.const);
    expect(events.length).toBeGreaterThan(20);
    expect(missingFrom(contract(), events)).toEqual([]);
  });

  it('name every setting', () => {
    const settings = [...environmentHelp.matchAll(/\b(MONIKER_[A-Z_]+|[A-Z]+_API_KEY)\b/g)].map((match) => match[1] ?? '');
    expect(settings.length).toBeGreaterThan(30);
    expect(missingFrom(documents.find(({ path }) => path === 'docs/configuration.md')?.text ?? '', settings)).toEqual([]);
  });

  it('show a tool in code that works', async () => {
    const page = documents.find(({ path }) => path === 'docs/made-tools-and-code.md')?.text ?? '';
    const [, code = ''] = /```ts\n([\s\S]*?)```/.exec(page) ?? [];
    mkdirSync(programs, { recursive: true });
    const file = join(programs, 'dice.ts');
    writeFileSync(file, code.replace("'./define-tool.ts'", JSON.stringify(join(root, 'src/tools/define-tool.ts'))));
    const { dice } = await import(/* @vite-ignore */ file);
    const { content, isError } = await dice.execute({ sides: 6, count: 3 }, {});
    expect([isError, content[0].text]).toEqual([false, expect.stringMatching(/^[1-6] [1-6] [1-6]$/)]);
  });
});

function placeOf({ path }: Document): number {
  const place = readingOrder.indexOf(path);
  return place === -1 ? readingOrder.length : place;
}

function runDocument(document: Document, service: SharedService): void {
  let folder = '';
  let shell: Shell;
  /** Of the programs that the page starts: two runs on one machine must not meet. */
  let [practicePort, publisherPort] = [0, 0];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'moniker-docs-'));
    [practicePort, publisherPort] = [await freePort(), await freePort()];
    mkdirSync(programs, { recursive: true });
    mkdirSync(join(folder, '.moniker'));
    writeFileSync(join(folder, '.moniker/keys'), `MONIKER_ROOT_KEY=${service.key}\n`);
    for (const name of ['examples', 'node_modules', 'src']) symlinkSync(join(root, name), join(folder, name));
    shell = startShell(folder, { MONIKER_URL: service.url, PRACTICE_PORT: String(practicePort) });
    if (setup !== undefined) await shell.run(localized(setup.code));
  });
  afterAll(async () => {
    shell?.end();
    rmSync(folder, { recursive: true, force: true });
  });
  const localized = (text: string) =>
    text
      .replaceAll('http://127.0.0.1:8787', service.url)
      .replaceAll('127.0.0.1:8790', `127.0.0.1:${practicePort}`)
      .replaceAll('8793', String(publisherPort));

  for (const block of document.blocks) {
    const title = `line ${block.line}: ${block.code
      .split('\n')
      .find((line) => line.trim() !== '')
      ?.slice(0, 80)}`;
    if (block.notRun === null) it(title, () => check(block));
    else it.skip(`${title} (not run: ${block.notRun})`, () => undefined);
  }

  async function check(block: Block): Promise<void> {
    const code = localized(block.code);
    const printed = await shell.run(block.language === 'sh' ? code : `node ${writeProgram(document.path, block.line, code)}`, block.fails);
    if (block.output === null) return;
    const shown = localized(block.output.text);
    if (block.output.language === 'text') {
      expect(isLike(shown.trim(), printed.trim()) ? shown : printed.trim(), `${document.path}:${block.output.line}`).toBe(shown);
      return;
    }
    expect(
      differenceFrom(JSON.parse(shown), JSON.parse(lastJson(printed))),
      `${document.path}:${block.output.line}, printed: ${printed}`,
    ).toBeNull();
  }
}

function writeProgram(document: string, line: number, code: string): string {
  const path = join(programs, `${document.replaceAll(/\W+/g, '-')}-${line}.mjs`);
  writeFileSync(path, code);
  return path;
}

/** Of several responses, the last is compared. */
function lastJson(printed: string): string {
  const text = printed.trim();
  return text.startsWith('{\n') || text.startsWith('[\n') ? text : (text.split('\n').at(-1) ?? '');
}

type Shell = { run(code: string, fails?: boolean): Promise<string>; end(): void };

/** One bash process for each document, so that variables and functions persist; the first command that fails ends it. */
function startShell(folder: string, variables: Record<string, string>): Shell {
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('MONIKER_')));
  const child = spawn('bash', ['-euo', 'pipefail'], {
    cwd: folder,
    env: { ...inherited, HOME: folder, PATH: `${dirname(process.execPath)}:${process.env.PATH}`, ...variables },
    stdio: ['pipe', 'pipe', 'pipe'],
    // A separate process group, so that `end` also ends background processes of the document.
    detached: true,
  });
  let [printed, errors] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString('utf8');
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString('utf8');
  });
  child.stdin.on('error', () => undefined); // the shell has ended: `run` reports why
  let count = 0;
  return {
    run: async (code, fails = false) => {
      count += 1;
      const mark = `--- end of block ${count} ---`;
      [printed, errors] = ['', ''];
      const group = fails
        ? `if { ${code}\n} < /dev/null; then echo 'The last command was expected to fail' >&2; exit 1; fi`
        : `{ ${code}\n} < /dev/null`;
      child.stdin.write(`${group}\necho; echo '${mark}'\n`);
      await vi.waitUntil(() => printed.includes(mark) || hasEnded(child), { timeout: 170_000 });
      if (!printed.includes(mark)) throw new Error(`The shell ended in this block or before it:\n${printed}${errors}`);
      return printed.slice(0, printed.indexOf(mark));
    },
    end: () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // ESRCH: the whole group has ended
      }
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

function listMarkdown(folder: string): string[] {
  return readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => normalize(join(folder, name)));
}
