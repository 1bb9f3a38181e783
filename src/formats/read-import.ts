/**
 * Reads a file of another system, or of Moniker, as a project (`core/import/`): JSON with comments and trailing commas, YAML, or a zip archive
 * of such files and skill folders. Used by the command line and by `POST /v1/import`.
 */
import { parse, TomlError } from 'smol-toml';
import { ImportDraft, type ImportResult } from '../core/import/draft.ts';
import { detectFormat, readFormat, unknownFormat } from '../core/import/formats.ts';
import type { ImportFormat } from '../core/import/names.ts';
import { type ArchiveFile, contentOf, readSkillFolders } from '../core/import/skills.ts';
import { excessOf } from '../core/json/json-text.ts';
import { repeatedMembers } from '../core/json/repeated-members.ts';
import { withoutComments } from '../core/json/json-comments.ts';
import { collectParts, isDeeperThan, isRecord, mapMembers, recordOf, tryParse } from '../core/json/wire-value.ts';
import { limits } from '../core/limits/limits.ts';
import { invalidRequest, parsePart, Problem, quoted } from '../core/problem.ts';
import { mapPlaces, variableNames } from '../core/project/expand-variables.ts';
import { Project } from '../core/project/project.ts';
import { skillFile, isStray, skillPathFault } from '../core/skills/skill.ts';
import { readYaml, TextFault } from './read-yaml.ts';
import { readZipDirectory, unpackEntry } from './read-zip.ts';

export type ImportOptions = {
  /** Absent: found out. */
  format?: ImportFormat | undefined;
  /** As the user named it, with or without folders. */
  fileName?: string | undefined;
};

/** Throws `invalid_request`, `invalid_json` or `body_too_large`, and nothing else. */
export function readImport(bytes: Uint8Array, { format, fileName = '' }: ImportOptions = {}): ImportResult {
  if (bytes.byteLength > limits.maxLargeBodyBytes)
    throw new Problem('body_too_large', `The file has ${bytes.byteLength} bytes; an import may have at most ${limits.maxLargeBodyBytes}.`);
  if (isZip(bytes)) return readArchive(bytes, format, fileName);
  const text = decodeImport(bytes);
  const value = parseImportText(text, fileName);
  const found = format ?? detectFormat(value, fileName);
  if (found === null) throw unknownFormat();
  if (found === 'moniker') return ownProject(value, null);
  const draft = new ImportDraft();
  readFormat(draft, found, value, fileName);
  noteText(draft, text, '');
  return draft.result(found);
}

/** What the text says and the value does not. `path`: of a file in an archive, or ''. */
function noteText(draft: ImportDraft, text: string, path: string): void {
  // YAML 1.2 has no merge keys, so some readers of the file leave out what they add. A member twice is an error there.
  if (!isJson(text)) {
    if (/(?:^|[\s{,])<<\s*:/.test(text)) draft.warn(path, 'the file has merge keys (<<) of YAML 1.1: the members of their maps were added');
    return;
  }
  const repeated = repeatedMembers(withoutComments(text), maxRepeated);
  for (const member of repeated) draft.warn(path === '' ? member : `${path}: ${member}`, 'is in the file twice: the last one was taken');
}

/** Repeated members that are named. */
const maxRepeated = 20;

function isJson(text: string): boolean {
  return /^\ufeff?\s*(?:[[{]|\/[/*])/.test(text);
}

/** A project file of our own is used whole or not at all. `files`: of the archive that contains it. */
function ownProject(value: unknown, files: { folder: string; all: readonly ArchiveFile[] } | null): ImportResult {
  const written = files === null ? value : withSkillFiles(value, files.folder, files.all);
  const parsed = parsePart(Project, written);
  const open = variablePaths(written);
  // What a variable stands for is checked when the project is written, or its document is skipped.
  const issues = 'issues' in parsed ? parsed.issues.filter(({ path }) => !open.has(path)) : [];
  if (issues.length > 0) throw invalidRequest(issues);
  for (const [name, skill] of Object.entries(recordOf(recordOf(written).skills)))
    if ('path' in recordOf(skill))
      throw invalidRequest([
        {
          path: `skills.${name}.path`,
          message: 'is a folder beside the project file: import both in one zip archive, or use moniker apply',
        },
      ]);
  // The value as written, since parsing adds defaults.
  return { format: 'moniker', project: written as Project, skipped: [], warnings: [] };
}

function variablePaths(project: unknown): Set<string> {
  const found = new Set<string>();
  mapPlaces(project, (text, path) => {
    if (variableNames(text).length > 0) found.add(path);
    return text;
  });
  return found;
}

function withSkillFiles(value: unknown, folder: string, files: readonly ArchiveFile[]): unknown {
  const { skills } = recordOf(value);
  if (!isRecord(skills)) return value;
  const filled = Object.entries(skills).map(([name, skill]) => {
    const { path } = recordOf(skill);
    const root = typeof path === 'string' ? `${folder}${path.replace(/^\.\//, '').replace(/\/+$/, '')}/` : null;
    const file = root === null ? undefined : files.find((one) => one.path === root + skillFile);
    if (root === null || file === undefined) return [name, skill] as const;
    const resources = files
      .filter((one) => one !== file && one.path.startsWith(root))
      .map((one) => [one.path.slice(root.length), contentOf(one.bytes)]);
    return [name, { content: decodeImport(file.bytes), resources: Object.fromEntries(resources) }] as const;
  });
  return { ...recordOf(value), skills: Object.fromEntries(filled) };
}

function isZip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x50 && bytes[1] === 0x4b && ((bytes[2] === 3 && bytes[3] === 4) || (bytes[2] === 5 && bytes[3] === 6));
}

const maxArchiveEntries = 1_000;
/** All files of an archive together. */
const maxArchiveBytes = 2 * limits.maxLargeBodyBytes;

/** Reads each JSON and YAML file of the archive with its own format, and each folder with a `SKILL.md` as a skill. */
function readArchive(archive: Uint8Array, format: ImportFormat | undefined, fileName: string): ImportResult {
  const draft = new ImportDraft();
  const files = archiveFiles(draft, archive);
  const own = files.find(({ path }) => /(^|\/)moniker\.(json|ya?ml)$/.test(path));
  if (own !== undefined && (format === undefined || format === 'moniker')) {
    const folder = own.path.slice(0, own.path.lastIndexOf('/') + 1);
    return ownProject(parseImportText(decodeImport(own.bytes)), { folder, all: files });
  }
  const rest = readSkillFolders(draft, files);
  const found = new Set<string>(rest.length < files.length ? ['sisu'] : []);
  for (const { path, bytes } of rest) {
    if (!/\.(json|jsonc|json5|ya?ml|toml)$/i.test(path)) {
      draft.skip(path, 'is neither JSON, YAML nor TOML, nor part of a folder with a SKILL.md');
      continue;
    }
    try {
      const text = decodeImport(bytes);
      const value = parseImportText(text, path);
      const one = format ?? detectFormat(value, path);
      if (one === null || one === 'moniker')
        draft.skip(path, one === null ? 'is of no known format' : 'is a project file: it must be called moniker.json or moniker.yaml');
      else {
        readFormat(draft, one, value, path);
        noteText(draft, text, path);
        found.add(one);
      }
    } catch (error) {
      if (!(error instanceof Problem) || error.code === 'body_too_large') throw error;
      draft.skip(path, error.detail);
    }
  }
  const [only] = found;
  if (files.length === 0) draft.warn('', `${fileName === '' ? 'The archive' : quoted(fileName)} contains no files`);
  return draft.result(found.size === 1 && only !== undefined ? only : 'zip');
}

/** Files that operating systems add are left out; entries that leave the archive's folder, and anything too large, are errors. */
function archiveFiles(draft: ImportDraft, archive: Uint8Array): ArchiveFile[] {
  const directory = readZipDirectory(archive, maxArchiveEntries);
  if (typeof directory === 'string') throw invalidRequest([{ path: '', message: `the archive ${directory}` }]);
  for (const { path, message } of directory.issues) draft.skip(path, message);
  const entries = directory.entries.filter(({ isDirectory }) => !isDirectory);
  const total = entries.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total > maxArchiveBytes)
    throw new Problem('body_too_large', `The files of the archive have ${total} bytes unpacked; at most ${maxArchiveBytes} are allowed.`);
  return entries.flatMap((entry): ArchiveFile[] => {
    const fault = skillPathFault(entry.name);
    if (fault !== null) throw invalidRequest([{ path: entry.name.slice(0, 200), message: fault }]);
    // `.mcp.json` and `.vscode/mcp.json` are what people import.
    if (isStray(entry.name) && !/(^|\/)\.(mcp\.json|vscode|cursor|kiro|claude\.json)/.test(entry.name)) return [];
    const bytes = unpackEntry(archive, entry);
    if (typeof bytes === 'string') throw invalidRequest([{ path: entry.name.slice(0, 200), message: bytes }]);
    return [{ path: entry.name, bytes }];
  });
}

/** Windows writes some files in UTF-16, with a byte order mark. */
export function decodeImport(bytes: Uint8Array): string {
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : 'utf-8';
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    // The decoder's error says nothing useful.
    throw new Problem('invalid_request', 'The file is neither text (UTF-8 or UTF-16) nor a zip archive.');
  }
}

/** As large as OpenAPI documents are, which are the largest files. */
const maxImportDepth = limits.maxOpenApiDepth;
const maxImportParts = 300_000;
const maxYamlSeparators = 400_000;

/** Parses JSON, JSON with comments and trailing commas, YAML, or TOML. */
export function parseImportText(text: string, fileName = ''): unknown {
  const bare = text.replace(/^\ufeff/, '').trim();
  if (bare === '') throw new Problem('invalid_request', 'The file is empty.');
  if (bare.startsWith('<')) throw new Problem('invalid_request', 'The file is a page of HTML or XML, not JSON, YAML or a zip archive.');
  // The command line sends what it read of a TOML file as JSON, under the name of the file. TOML never begins with a brace.
  const isToml = !bare.startsWith('{') && (/\.toml$/i.test(fileName) || looksLikeToml(bare));
  const value = isToml ? parseAs('TOML', bare) : isJson(bare) ? parseJson(bare) : parseAs('YAML', bare);
  if (collectParts(value, maxImportParts) === null) throw tooManyValues();
  return value;
}

function parseJson(text: string): unknown {
  const plain = withoutComments(text);
  const excess = excessOf(plain, maxImportDepth, maxImportParts * 4);
  if (excess === 'depth') throw new Problem('invalid_json', `The file is nested deeper than ${maxImportDepth} levels.`);
  if (excess === 'values') throw tooManyValues();
  const value = tryParse(plain);
  if (value !== undefined) return value;
  // YAML permits what JSON does not, such as keys without quotes. Its message has the line.
  return parseAs('JSON', plain);
}

function parseAs(what: 'JSON' | 'TOML' | 'YAML', text: string): unknown {
  try {
    if (what === 'TOML') return readTomlValue(text, { maxDepth: maxImportDepth });
    return readYaml(text, { maxDepth: maxImportDepth, maxSeparators: maxYamlSeparators, maxAliased: limits.maxOpenApiBytes });
  } catch (error) {
    if (!(error instanceof TextFault)) throw error;
    if (error.kind === 'parts') throw tooManyValues();
    const where = error.place === null ? '' : ` in line ${error.place.line}, column ${error.place.column}`;
    throw new Problem(what === 'JSON' ? 'invalid_json' : 'invalid_request', `The file is not valid ${what}${where}: ${error.message}.`);
  }
}

/** Throws `TextFault`. Dates become texts. */
function readTomlValue(text: string, { maxDepth }: { maxDepth: number }): unknown {
  try {
    const value = parse(text, { maxDepth });
    // The parser bounds arrays and inline tables, not dotted names.
    if (isDeeperThan(value, maxDepth)) throw new TextFault('depth', `tables nest deeper than ${maxDepth} levels`, { line: 1, column: 1 });
    return plain(value);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    // The other lines of the message show the text, which may contain a credential.
    throw new TextFault('syntax', (error.message.split('\n', 1)[0] ?? '').replace(/^Invalid TOML document: /, ''), error);
  }
}

/** Whether a text begins as TOML: with a table or a pair, and is no JSON. */
function looksLikeToml(text: string): boolean {
  const first = text.split('\n', 2_000).find((line) => line.trim() !== '' && !line.trim().startsWith('#')) ?? '';
  const isStart = /^\s*\[\[?[^[\]{}]{1,200}\]\]?\s*(?:#.*)?$/.test(first) || /^\s*[\w."'-]{1,200}\s*=\s*\S/.test(first);
  return isStart && tryParse(text) === undefined;
}

function plain(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(plain);
  return isRecord(value) ? mapMembers(value, plain) : value;
}

function tooManyValues(): Problem {
  return new Problem('body_too_large', 'The file has too many values for an import. Split it.');
}
