/**
 * Legal names for the documents of an import. The names of other systems are mapped by rule, so that two files that use one name (an
 * `mcp.json` and the toolsets over its servers) get the same one.
 */
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

/** The kinds of documents that an import creates. */
export type ImportedKind = 'providers' | 'modelAliases' | 'servers' | 'tools' | 'toolsets' | 'skills' | 'agents';

/** What a document is called in messages. */
export const kindNouns: Readonly<Record<ImportedKind, string>> = {
  providers: 'provider',
  modelAliases: 'model alias',
  servers: 'server',
  tools: 'tool',
  toolsets: 'toolset',
  skills: 'skill',
  agents: 'agent',
};

/** Returns the name itself if it is legal, else a legal one: `GitHub MCP` → `github-mcp`. */
export function legalName(kind: ImportedKind, written: string): string {
  switch (kind) {
    case 'servers':
      return serverName(written);
    case 'providers': {
      const name = slug(written, 32, 'provider');
      return name === 'agent' ? 'agent-provider' : name;
    }
    case 'modelAliases':
      return modelAliasName(written);
    case 'tools':
      return `made.${wordName(written)}`;
    case 'skills':
      return slug(written, 64, 'skill', /[a-z0-9]/);
    default:
      return slug(written, 50, kindNouns[kind], /[a-z0-9]/);
  }
}

/** Returns `name-2`, `name-3`, … within the length that the kind allows. */
export function numberedName(kind: ImportedKind, name: string, number: number): string {
  const suffix = kind === 'tools' ? `_${number}` : `-${number}`;
  const most = { servers: 32, providers: 32, modelAliases: 128, tools: 69, toolsets: 50, skills: 64, agents: 50 }[kind];
  return name.slice(0, most - suffix.length).replace(/[-_]+$/, '') + suffix;
}

/** Returns a legal alias: 2 to 64 of a-z, 0-9, `_` and `-`, beginning with a letter; null if nothing of the name is left. */
export function legalAlias(written: string): string | null {
  const alias = plain(written)
    .replace(/[^a-z0-9_-]+/g, '_')
    .replace(/^[^a-z]+|_+$/g, '')
    .slice(0, 64);
  return alias.length < 2 ? null : alias;
}

/** Returns the name of a tool as a server may list it; null if nothing of the name is left. */
export function listedName(written: string): string | null {
  const name = written.trim();
  if (isListedName(name)) return name;
  const legal = name
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9_.-]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, 128);
  return legal === '' ? null : legal;
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

function serverName(written: string): string {
  const name = slug(written, 32, 'server');
  return reservedServers.has(name) ? `${name}-server` : name;
}

/** Keeps what a model alias may have, also `/`: `openai/gpt 4o` → `openai/gpt-4o`. */
function modelAliasName(written: string): string {
  const [head = '', ...rest] = written.trim().split('*');
  const name = (rest.length === 0 ? head : `${head}*${rest.join('')}`)
    .replace(/[^A-Za-z0-9._:@+*/-]+/g, '-')
    .split('/')
    .filter((part) => !/^\.{0,2}$/.test(part))
    .join('/')
    .slice(0, 128)
    .replace(/\/$/, '');
  const free = /^(agent|rehearsal)\//i.test(name) ? `model/${name}` : name;
  return (/^[A-Za-z0-9*]/.test(free) ? free : `model-${free}`).slice(0, 128).replace(/[-/]+$/, '') || 'model';
}

function wordName(written: string): string {
  return legalAlias(written.replace(/^made\./, '').replace(/([a-z0-9])([A-Z])/g, '$1_$2')) ?? 'tool';
}

/** Lower case, with `-` between words. `first`: what the name may begin with. */
function slug(written: string, most: number, otherwise: string, first = /[a-z]/): string {
  const name = plain(written)
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, most)
    .replace(/-+$/, '');
  if (name === '') return otherwise;
  return first.test(name.charAt(0)) ? name : `${otherwise}-${name}`.slice(0, most).replace(/-+$/, '');
}

/** Without accents, in lower case. */
function plain(written: string): string {
  return written.slice(0, 400).normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
}
