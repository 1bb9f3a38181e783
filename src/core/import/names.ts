/**
 * Legal names for the documents of an import. The names of other systems are mapped by rule, so that two files that use one name (an
 * `mcp.json` and the toolsets over its servers) get the same one.
 */
import { sha256HexSync } from '../hash.ts';
import { isListedName } from '../names/names.ts';
import { reservedServers } from '../names/reserved-names.ts';

/** In the order in which a file is compared with them. `formats.ts` has their readers. */
export const importFormats = [
  'moniker',
  'openapi',
  'codex',
  'litellm',
  'bifrost',
  'hypertool',
  'docker-mcp',
  'mcp-registry',
  'opencode',
  'vscode',
  'zed',
  'amp',
  'goose',
  'kiro',
  'mcphub',
  'gemini',
  'copilot',
  'continue',
  'cline',
  'cursor',
  'windsurf',
  'claude',
  'portkey',
  'albert',
  'sisu',
  'openai-functions',
  'alias-map',
] as const;
export type ImportFormat = (typeof importFormats)[number];

/** The kinds of documents that an import creates, what messages call them, and the most characters of a name. */
export const importedKinds = {
  providers: { noun: 'provider', most: 32 },
  modelAliases: { noun: 'model alias', most: 128 },
  servers: { noun: 'server', most: 32 },
  tools: { noun: 'tool', most: 69 },
  toolsets: { noun: 'toolset', most: 50 },
  skills: { noun: 'skill', most: 64 },
  agents: { noun: 'agent', most: 50 },
} as const;
export type ImportedKind = keyof typeof importedKinds;

/** Whether the legal form of the name was too long, and ends with a hash. */
export function isShortened(kind: ImportedKind, written: string): boolean {
  return legalForm(kind, written).length > importedKinds[kind].most;
}

/**
 * Returns the name itself if it is legal, else a legal one: `GitHub MCP` → `github-mcp`. A name that is too long ends with a hash of the whole,
 * so that names with the same beginning differ, in every file in the same way.
 */
export function legalName(kind: ImportedKind, written: string): string {
  return shortened(legalForm(kind, written), importedKinds[kind].most, kind === 'tools' ? '_' : '-');
}

/** However long. */
function legalForm(kind: ImportedKind, written: string): string {
  const { noun } = importedKinds[kind];
  if (kind === 'modelAliases') return modelAliasName(written);
  if (kind === 'tools') return `made.${wordName(written)}`;
  if (kind !== 'servers' && kind !== 'providers') return slug(written, noun, /[a-z0-9]/);
  const name = slug(written, noun);
  if (kind === 'servers') return reservedServers.has(name) ? `${name}-server` : name;
  return name === 'agent' ? 'agent-provider' : name;
}

const hashLength = 6;

function shortened(name: string, most: number, separator: '-' | '_'): string {
  if (name.length <= most) return name;
  const hash = sha256HexSync(new TextEncoder().encode(name)).slice(0, hashLength);
  return name.slice(0, most - hashLength - 1).replace(/[-_]+$/, '') + separator + hash;
}

/** Returns `name-2`, `name-3`, … within the length that the kind allows. */
export function numberedName(kind: ImportedKind, name: string, number: number): string {
  const suffix = kind === 'tools' ? `_${number}` : `-${number}`;
  return name.slice(0, importedKinds[kind].most - suffix.length).replace(/[-_]+$/, '') + suffix;
}

/** Returns a legal alias: 2 to 64 of a-z, 0-9, `_` and `-`, beginning with a letter; null if nothing of the name is left. */
export function legalAlias(written: string): string | null {
  const alias = aliasForm(written);
  return alias.length < 2 ? null : shortened(alias, 64, '_');
}

function aliasForm(written: string): string {
  return plain(written)
    .replace(/[^a-z0-9_-]+/g, '_')
    .replace(/^[^a-z]+|_+$/g, '');
}

/** Returns the name of a tool as a server may list it; null if nothing of the name is left. */
export function listedName(written: string): string | null {
  const name = written.trim();
  if (isListedName(name)) return name;
  const legal = name
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9_.-]+/g, '_')
    .replace(/^_+|_+$/g, '');
  return legal === '' ? null : shortened(legal, 128, '_');
}

/** Returns the name of a secret in capitals: `GITHUB_TOKEN`. */
export function secretName(...parts: readonly string[]): string {
  const name = parts
    .map((part) => part.normalize('NFKD').replace(/([a-z0-9])([A-Z])/g, '$1_$2'))
    .join('_')
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, 120);
  if (name === '') return 'SECRET';
  return /^[A-Z]/.test(name) ? name : `_${name}`;
}

/** Keeps what a model alias may have, also `/`: `openai/gpt 4o` → `openai/gpt-4o`. */
function modelAliasName(written: string): string {
  const [head = '', ...rest] = written.trim().split('*');
  const name = (rest.length === 0 ? head : `${head}*${rest.join('')}`)
    .replace(/[^A-Za-z0-9._:@+*/-]+/g, '-')
    .split('/')
    .filter((part) => !/^\.{0,2}$/.test(part))
    .join('/');
  const free = /^(agent|rehearsal)\//i.test(name) ? `model/${name}` : name;
  return (/^[A-Za-z0-9*]/.test(free) ? free : `model-${free}`).replace(/[-/]+$/, '') || 'model';
}

function wordName(written: string): string {
  const word = aliasForm(written.replace(/^made\./, '').replace(/([a-z0-9])([A-Z])/g, '$1_$2'));
  return word.length < 2 ? 'tool' : word;
}

/** Lower case, with `-` between words. `first`: what the name may begin with. */
function slug(written: string, otherwise: string, first = /[a-z]/): string {
  const name = plain(written)
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
  if (name === '') return otherwise;
  return first.test(name.charAt(0)) ? name : `${otherwise}-${name}`;
}

/** Without accents, in lower case. */
function plain(written: string): string {
  return written.slice(0, 400).normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
}
