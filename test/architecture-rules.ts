/** The rules of this repository as a function over sources: which folder may import which, and which constructs belong in one place. */
import { posix } from 'node:path';
import { blankComments } from './source-text.ts';

/** `path` is relative to the project, with forward slashes: `src/core/tools/tool.ts`. */
export type Source = { path: string; content: string };

/** A file imports from its own folder and from lower floors; folders of one floor must not import each other. */
const floors = new Map<string, number>([
  ['core', 0],
  ['ports', 1],
  ['dialects', 1],
  ['engine', 2],
  ['net', 3],
  ['platform', 3],
  ...['providers', 'mcp', 'tools', 'http-tools', 'sandbox', 'skills', 'storage', 'webhooks', 'oauth', 'sign-in'].map(
    (folder) => [folder, 4] as const,
  ),
  ['wiring.ts', 5],
  ['wire.ts', 5.5],
  ['session', 6],
  ['mcp-session', 6],
  ['usage', 6],
  ['limit-counter', 6],
  ['catalog', 6],
  ['audit-shard', 6],
  ['edge', 6],
  ['http', 7],
  ['console', 7],
  ['worker.ts', 8],
  ['edge.ts', 8],
]);
/** The launcher and the commands, which use it, outside the floors. They may import anything; nothing else may import them. */
const launchers = ['local', 'cli'];

/** Browser code: it imports itself, the libraries below, the client, types of core, and the function that shows hidden characters. */
const pages = 'console';
const pageLibraries = ['preact', 'preact/hooks', '@preact/signals', 'marked'];
/** Loaded on demand, with the code editor. */
const isEditorLibrary = (file: string, specifier: string): boolean =>
  file.startsWith('src/console/editor/') && /^@(?:codemirror|lezer)\//.test(specifier);
const pageImports = /^(?:client\/src\/index\.ts|src\/core\/text\/visible-text\.ts)$/;

/** Global functions that make pure code depend on the environment: it receives values or uses a port instead. */
const impure: [pattern: RegExp, what: string][] = [
  [/\bDate\.now\(/, 'the clock'],
  [/\bnew Date\(\)/, 'the clock'],
  [/\bperformance\.now\(/, 'the clock'],
  [/\bset(?:Timeout|Interval)\(/, 'a timer'],
  [/\bAbortSignal\.timeout\(/, 'a timer'],
  [/\bMath\.random\(/, 'randomness'],
  [/\brandomUUID\(/, 'randomness'],
  [/\bgetRandomValues\(/, 'randomness'],
];
const firstImpureFloor = 3;

const emptyNames = ['utils', 'helpers', 'common', 'types', 'manager', 'service', 'index', 'misc'];

/** One line for each violation, `path: what`; empty when the sources follow the rules. */
export function findViolations(sources: readonly Source[]): string[] {
  return [
    ...sources.flatMap((source) => fileViolations(source)),
    ...findCycles(sources).map((cycle) => `import cycle: ${cycle.join(' → ')}`),
  ];
}

function fileViolations({ path, content }: Source): string[] {
  const found: string[] = [];
  const report = (what: string): void => {
    found.push(`${path}: ${what}`);
  };
  const room = roomOf(path);
  const floor = floors.get(room);
  const text = blankComments(content);
  const code = blankComments(content, { strings: true });
  if (floor === undefined && !launchers.includes(room)) report(`"${room}" is on no floor`);
  if (emptyNames.includes(posix.basename(path).replace(/\.tsx?$/, ''))) report('the name says that its place was not found yet');
  for (const specifier of importsOf(room === pages ? withoutTypeImportsOfCore(text) : text))
    checkImport(path, room, floor, specifier, report);
  if (floor !== undefined && floor < firstImpureFloor) {
    for (const [pattern, what] of impure)
      if (pattern.test(code)) report(`uses ${what} (${pattern.exec(code)?.[0]}); floors 0 to 2 get it from outside`);
  }
  const mayFetch = room === 'net' || launchers.includes(room) || path === 'src/console/api/request.ts';
  if (!mayFetch && callsFetch(code)) report('calls fetch; only net/ and console/api/request.ts do');
  if (/\bsql\s*\.exec(?:<[^(]*>)?\(\s*(?:`[^`]*\$\{|'[^'\n]*'\s*\+|"[^"\n]*"\s*\+)/.test(text))
    report('builds SQL text; pass values as parameters');
  // Module-level code runs before any input exists, so it only creates constants.
  const patterns = text.replaceAll(/^(?:export )?const \w+ = new RegExp\(/gm, '');
  if (/\bnew RegExp\(\s*(?!['"/])/.test(patterns)) report('makes a RegExp from a value that is not a literal');
  // Unless it prints for another program, or before a module is loaded.
  const mayWrite = /^src\/(?:local\/printing|local\/build\/.*|cli\/(?:main|mcp-bridge))\.ts$/.test(path);
  if (launchers.includes(room) && !mayWrite && /\bconsole\s*\.|\bprocess\s*\.\s*std(?:out|err)\s*\.\s*write\b/.test(code))
    report('prints; only local/printing.ts does, which makes the text of others visible');
  if (/\b(?:TODO|FIXME|XXX)\b/.test(content)) report('contains a TODO');
  if (/^export default\b/m.test(code) && room !== 'worker.ts') report('has a default export; only worker.ts does');
  if (/^export \*/m.test(code)) report('re-exports a whole module');
  return found;
}

/** Small pure libraries that core may import besides zod (no I/O, no eval, no dependencies), each in one file. */
const onePlace: Readonly<Record<string, string | readonly string[]>> = {
  jsonrepair: 'src/core/json/json-repair.ts',
  'fastest-levenshtein': 'src/core/names/suggest.ts',
  minisearch: 'src/core/tools/tool-index.ts',
  'js-tokens': 'src/core/made/uses.ts',
  croner: 'src/core/triggers/schedules/cron.ts',
  '@marcbachmann/cel-js': 'src/core/triggers/filters/filter.ts',
  // Web Crypto has no synchronous hash.
  'node:crypto': 'src/core/hash.ts',
  // Reads the state of a script from within the interpreter; the current span of a trace.
  'node:async_hooks': ['src/tools/shell/interpreter-hooks.ts', 'src/platform/telemetry.ts'],
};

function checkImport(path: string, room: string, floor: number | undefined, specifier: string, report: (what: string) => void): void {
  if (specifier.startsWith('.')) {
    const imported = posix.join(posix.dirname(path), specifier);
    const target = roomOf(imported);
    if (!/\.(?:tsx?|wasm)$/.test(specifier)) report(`imports ${specifier} without its extension`);
    if (target === 'cli' && room !== 'cli') report(`imports ${specifier}; nothing imports the commands`);
    else if (launchers.includes(room) || target === room || (room === pages && pageImports.test(imported))) return;
    const targetFloor = floors.get(target);
    if (room === pages) report(`imports ${specifier}; the pages import themselves, the client and types of core`);
    else if (target === pages) report(`imports ${specifier}; only pages import pages`);
    else if (launchers.includes(target)) report(`imports ${specifier}; nothing may import the launcher`);
    else if (targetFloor === undefined || (floor !== undefined && targetFloor >= floor))
      report(`imports ${specifier}, which is not below ${room}`);
    return;
  }
  if (specifier.startsWith('node:') && !launchers.includes(room) && !isItsPlace(specifier, path))
    report(`imports ${specifier}; only local/ and cli/ do`);
  if (specifier.startsWith('cloudflare:') && floor !== undefined && floor < firstImpureFloor)
    report(`imports ${specifier} below floor ${firstImpureFloor}`);
  if (room === pages && !pageLibraries.includes(specifier) && !isEditorLibrary(path, specifier))
    report(`imports ${specifier}; the pages import ${pageLibraries.join(', ')}`);
  const allowedInCore = specifier === 'zod' || isItsPlace(specifier, path);
  if (room === 'core' && !allowedInCore) report(`imports ${specifier}; core imports zod and the libraries of onePlace only`);
}

function isItsPlace(specifier: string, path: string): boolean {
  return [onePlace[specifier] ?? []].flat().includes(path);
}

function withoutTypeImportsOfCore(text: string): string {
  return text.replaceAll(/^import type [^;]*? from '(?:\.\.\/)+core\/[^']+';$/gm, '');
}

/** A call of the global, not a method of that name (`stub.fetch(…)`) nor the definition of one (`fetch(request) {`). */
function callsFetch(code: string): boolean {
  if (/\b(?:globalThis|self)\.fetch\b/.test(code)) return true;
  // A parameter of that name (`run(args, { fetch }) {`) is the guarded client that the caller passed in.
  if (/\{[^{}()]*\bfetch\b[^{}()]*\}(?::[^()=]*)?\)\s*(?::[^{=]*)?(?:=>|\{)/.test(code)) return false;
  for (const match of code.matchAll(/(?<![.\w$])fetch\(/g)) {
    const before = code.slice(0, match.index).trimEnd();
    const after = code.slice(closingParenthesis(code, match.index + match[0].length));
    const defines = /\b(?:async|function)$/.test(before) || /^(?::| \{| =>)/.test(after);
    if (!defines) return true;
  }
  return false;
}

/** The offset after the parenthesis that closes the one before `from`. */
function closingParenthesis(code: string, from: number): number {
  let depth = 1;
  for (let index = from; index < code.length; index++) {
    if (code[index] === '(') depth++;
    if (code[index] === ')' && --depth === 0) return index + 1;
  }
  return code.length;
}

/** The folder under src/, or the file itself for files directly in src/. */
function roomOf(path: string): string {
  return path.split('/')[1] ?? path;
}

/** Specifiers of imports and re-exports. Type imports count too. */
export function importsOf(text: string): string[] {
  const pattern =
    /(?:^|[\s;}])(?:import|export)\b[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]|^import\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/gm;
  return [...text.matchAll(pattern)].map((match) => match[1] ?? match[2] ?? match[3] ?? '');
}

/** One depth-first search; each cycle is reported once, by its files. */
function findCycles(sources: readonly Source[]): string[][] {
  const imports = new Map(
    sources.map(({ path, content }) => [
      path,
      importsOf(blankComments(content))
        .filter((specifier) => specifier.startsWith('.'))
        .map((specifier) => posix.join(posix.dirname(path), specifier)),
    ]),
  );
  const cycles: string[][] = [];
  const done = new Set<string>();
  const trail: string[] = [];
  const visit = (path: string): void => {
    if (done.has(path)) return;
    const at = trail.indexOf(path);
    if (at >= 0) {
      cycles.push([...trail.slice(at), path]);
      return;
    }
    trail.push(path);
    for (const target of imports.get(path) ?? []) visit(target);
    trail.pop();
    done.add(path);
  };
  for (const path of imports.keys()) visit(path);
  return cycles;
}
