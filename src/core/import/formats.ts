/**
 * The formats that an import reads, how each is recognized, and its reader. `formats/read-import.ts` turns bytes into the value; adding a
 * format means a reader and a row here.
 */
import { isRecord, type Json, recordOf, stringOf } from '../json/wire-value.ts';
import { readOpenApi } from '../openapi/description.ts';
import { Problem } from '../problem.ts';
import { Project } from '../project/project.ts';
import { hasAliasMap, isAliasMap, readAliasMap } from './alias-map.ts';
import { isBifrost, readBifrost } from './gateways/bifrost.ts';
import { clientFormats, type Format } from './client-formats.ts';
import type { ImportDraft } from './draft.ts';
import { hasAliases, hasDefinitions, readFunctionList } from './function-list.ts';
import { isHyperTool, readHyperTool } from './hypertool.ts';
import { isLiteLlm, readLiteLlm } from './gateways/litellm.ts';
import { hasMadeTools, readMadeTools } from './made-tools.ts';
import { type ImportFormat, importFormats, legalName } from './names.ts';
import { isPortkey, readPortkey } from './gateways/portkey.ts';

const formats: Readonly<Record<ImportFormat, Format>> = {
  ...clientFormats,
  moniker: {
    title: 'a project file of Moniker',
    expects: 'sections such as servers, toolsets and agents',
    detects: isProject,
    accepts: isRecord,
    read: () => undefined,
  },
  openapi: {
    title: 'an OpenAPI or Swagger document',
    expects: 'a member `openapi` or `swagger`',
    detects: (value) => ['openapi', 'swagger'].some((member) => /^(string|number)$/.test(typeof recordOf(value)[member])),
    read: (draft, value, name) => readOpenApiDocument(draft, recordOf(value), name),
  },
  litellm: {
    title: 'config.yaml of LiteLLM',
    expects: 'a list `model_list`',
    detects: isLiteLlm,
    read: (draft, value) => readLiteLlm(draft, draft.open(recordOf(value))),
  },
  bifrost: {
    title: 'config.json of Bifrost',
    expects: '`providers` with `keys`, or `mcp.client_configs`',
    detects: isBifrost,
    accepts: isRecord,
    read: (draft, value) => readBifrost(draft, draft.open(recordOf(value))),
  },
  hypertool: {
    title: 'toolsets or a persona of HyperTool',
    expects: '`toolsets` whose tools have a namespacedName, or with toolIds',
    detects: isHyperTool,
    accepts: (value) => isRecord(value) && ('toolsets' in value || Array.isArray(value.tools)),
    read: (draft, value) => readHyperTool(draft, draft.open(recordOf(value))),
  },
  portkey: {
    title: 'a config of Portkey',
    expects: '`targets`, `provider` or `virtual_key`',
    detects: isPortkey,
    accepts: isRecord,
    read: (draft, value) => readPortkey(draft, draft.open(recordOf(value))),
  },
  albert: {
    title: 'tools of Albert',
    expects: 'tools with name, description, parameters and implementation',
    detects: hasMadeTools,
    read: (draft, value) => readMadeTools(draft, value),
  },
  sisu: {
    title: 'a tool list of SISU',
    expects: '`tools` with a name and a schema, and their `aliases`',
    detects: (value) => hasDefinitions(value) && hasAliases(value),
    accepts: hasDefinitions,
    read: (draft, value) => readFunctionList(draft, value, 'sisu'),
  },
  'openai-functions': {
    title: 'a list of functions for OpenAI or Gemini, or of tools for Anthropic, LangChain or the AI SDK',
    expects: 'a list of definitions with name and parameters',
    detects: hasDefinitions,
    read: (draft, value, name) => readFunctionList(draft, value, name === '' ? 'functions' : name),
  },
  'alias-map': {
    title: 'a map of names',
    expects: 'pairs of a name and the tool that it stands for',
    detects: (value) => hasAliasMap(value) && isAliasMap(value),
    accepts: hasAliasMap,
    read: (draft, value) => readAliasMap(draft, draft.open(recordOf(value))),
  },
};

/** Returns the format of a parsed file; null if it is none of them. */
export function detectFormat(value: unknown, file = ''): ImportFormat | null {
  return importFormats.find((name) => formats[name].detects(value, file.toLowerCase())) ?? null;
}

/** Reads a parsed file into the draft. Throws `invalid_request` if it is not of the format. */
export function readFormat(draft: ImportDraft, format: ImportFormat, value: unknown, file = ''): void {
  const row: Format = formats[format];
  if (!(row.accepts ?? row.detects)(value, file.toLowerCase()))
    throw new Problem('invalid_request', `The file is not ${row.title}: it needs ${row.expects}. Omit \`format\` to detect it.`);
  row.read(draft, value, nameOf(file));
}

/** Returns the error for a file of no known format. */
export function unknownFormat(): Problem {
  const known = importFormats.map((name) => `${name} (${formats[name].expects})`).join('; ');
  return new Problem('invalid_request', `The file is of no known format. Known are: ${known}.`);
}

const sections = new Set(Object.keys(Project.shape));

/** Servers of VS Code have no `kind`; toolsets of HyperTool have other entries. */
function isProject(value: unknown): boolean {
  if (!isRecord(value) || isHyperTool(value) || isBifrost(value)) return false;
  const names = Object.keys(value);
  if (names.length === 0 || !names.every((name) => sections.has(name))) return false;
  if (!Object.values(recordOf(value.servers)).every((server) => 'kind' in recordOf(server))) return false;
  return value.tools === undefined || Object.keys(recordOf(value.tools)).some((name) => /^(made|ui)\./.test(name));
}

/** `/path/to/github-tools.json` → `github-tools`. Names that say nothing are left out. */
function nameOf(file: string): string {
  const base = (file.split(/[\\/]/).at(-1) ?? '').replace(/^\.+/, '').replace(/\.[A-Za-z0-9]{1,8}$/, '');
  return /^(tools?|functions?|index|config|settings|openapi|swagger|api|definitions|stdin|body)?$/i.test(base) ? '' : base;
}

/** An OpenAPI or Swagger document becomes a server with the document inline, and a toolset with its operations. */
function readOpenApiDocument(draft: ImportDraft, value: Json, fileName: string): void {
  const title = legalName(
    'servers',
    stringOf(recordOf(value.info).title)
      .replace(/\b(swagger|openapi|api)\b/gi, ' ')
      .trim() ||
      fileName ||
      'api',
  );
  try {
    readOpenApi(value);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    draft.skip(title, error.detail);
    return;
  }
  // What its tools lack is reported by the listing of the server, of which a plan has one, too.
  const server = draft.add('servers', title, { kind: 'openapi', document: value });
  if (server === null) return;
  draft.add('toolsets', title, { tools: [{ tool: `${server}.*` }] });
}
