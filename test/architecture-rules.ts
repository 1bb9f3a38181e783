/** The rules of this repository as a function over sources: which folder may import which, and which constructs belong in one place. */
import { posix } from 'node:path';
import { blankComments } from './source-text.ts';

/** `path` is relative to the project, with forward slashes: `src/core/tools/tool.ts`. */
export type Source = { path: string; content: string };

/** The floor of the clients of the Durable Objects and of what the objects share: one room. */
const nearSide = 4.2;

/**
 * A file imports from its own room and from lower floors; rooms of one floor must not import each other. A room is the longest of these
 * paths below src/ that a file is in; `*` is one folder.
 */
const floors: readonly (readonly [room: string, floor: number])[] = [
  ['core', 0],
  ['ports', 1],
  ['dialects', 1],
  ['engine', 2],
  ['net', 3],
  ['platform', 3],
  ['formats', 3],
  ...['providers', 'mcp', 'tools', 'http-tools', 'sandbox', 'storage', 'sign-in'].map((room) => [room, 4] as const),
  ['objects/shared', nearSide],
  ['objects/*/client', nearSide],
  // These read what the Catalog publishes, and walk over the objects of a workspace.
  ['storage/published', 4.4],
  ['storage/backup', 4.4],
  ['wiring', 5],
  ['objects/*', 6],
  ['edge', 6],
  ['http', 7],
  ['console', 7],
  ['worker.ts', 8],
  ['edge.ts', 8],
];

/** The folders of the core, lowest first; `.` stands for the files directly in it. A file imports from its own folder and from lower ones. */
const coreFolders =
  'limits text names . signatures telemetry json secrets tools model schema toolset redaction policy servers records skills turn impact replay made configuration people triggers listing project openapi import text-protocol backup'.split(
    ' ',
  );

const maxFilesInFolder = 32;

/** The launcher and the commands, which use it, outside the floors. They may import anything; nothing else may import them. */
const launchers = ['local', 'cli'];

/** Browser code: it imports itself, the libraries below, the client, types of core, and the function that shows hidden characters. */
const pages = 'console';
const pageLibraries = ['preact', 'preact/hooks', '@preact/signals', 'marked'];
/** Loaded on demand, with the code editor. */
const isEditorLibrary = (file: string, specifier: string): boolean =>
  file.startsWith('src/console/editor/') && /^@(?:codemirror|lezer)\//.test(specifier);
const pageImports = /^(?:client\/src\/(?:index|sse)\.ts|src\/core\/text\/visible-text\.ts)$/;

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
    ...fullFolders(sources),
  ];
}

function fileViolations({ path, content }: Source): string[] {
  const found: string[] = [];
  const report = (what: string): void => {
    found.push(`${path}: ${what}`);
  };
  const room = roomOf(path);
  const floor = floorOf(room);
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
  minisearch: 'src/core/toolset/tool-index.ts',
  'js-tokens': 'src/core/made/code-uses.ts',
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
    if (room === 'core' && target === room) checkCoreImport(path, imported, report);
    if (!/\.(?:tsx?|wasm)$/.test(specifier)) report(`imports ${specifier} without its extension`);
    if (target === 'cli' && room !== 'cli') report(`imports ${specifier}; nothing imports the commands`);
    else if (launchers.includes(room) || target === room || (room === pages && pageImports.test(imported))) return;
    const targetFloor = floorOf(target);
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

function checkCoreImport(path: string, imported: string, report: (what: string) => void): void {
  const [own, other] = [coreFolder(path), coreFolder(imported)];
  const [level, below] = [coreFolders.indexOf(own), coreFolders.indexOf(other)];
  if (level < 0) report(`core/${own} has no place in the order of the core's folders`);
  else if (below > level) report(`imports ${other}, which is above ${own} in the core`);
}

/** `.` for the files directly in the core. */
function coreFolder(path: string): string {
  return path.split('/').slice(2, -1)[0] ?? '.';
}

const roomPatterns = floors.map(([room, floor]) => ({
  room,
  floor,
  parts: room.split('/'),
}));

/** The room of a file under src/: of several, the most exact. The first part of the path if it is in none. */
function roomOf(path: string): string {
  const parts = path.split('/').slice(1);
  const fits = roomPatterns.filter((room) => room.parts.every((part, index) => part === '*' || part === parts[index]));
  const best = fits.reduce<(typeof fits)[number] | null>((chosen, next) => (isMoreExact(next, chosen) ? next : chosen), null);
  if (best?.floor === nearSide) return 'objects/shared';
  return best === null ? (parts[0] ?? path) : parts.slice(0, best.parts.length).join('/');
}

function isMoreExact(one: { room: string; parts: string[] }, other: { room: string; parts: string[] } | null): boolean {
  if (other === null || one.parts.length !== other.parts.length) return one.parts.length > (other?.parts.length ?? 0);
  return other.room.includes('*');
}

function floorOf(room: string): number | undefined {
  return (
    floors.find(([name]) => name === room)?.[1] ??
    (room.startsWith('objects/') ? floors.find(([name]) => name === 'objects/*')?.[1] : undefined)
  );
}

function fullFolders(sources: readonly Source[]): string[] {
  const counts = new Map<string, number>();
  for (const { path } of sources) counts.set(posix.dirname(path), (counts.get(posix.dirname(path)) ?? 0) + 1);
  return [...counts]
    .filter(([, files]) => files > maxFilesInFolder)
    .map(([folder, files]) => `${folder}: ${files} files; ${maxFilesInFolder} fit`);
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
