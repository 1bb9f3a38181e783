/**
 * Writes what an import read: whole or not at all, or each document that can be written. The others are skipped with the reason: the command
 * of a stdio server without the right to run one, a toolset of unknown servers.
 */
import type { ImportResult, Skipped } from '../../core/import/draft.ts';
import { settleImport } from '../../core/import/settle-import.ts';
import type { Principal } from '../../core/people/principal.ts';
import { nullIfNotFound, type Warning } from '../../core/problem.ts';
import { type Project, readProject } from '../../core/project/project.ts';
import { reservedServers } from '../../core/names/reserved-names.ts';
import { Workspace } from '../../core/people/workspace.ts';
import { type CatalogPort, workspaceDocument } from '../../ports/catalog.ts';
import type { AppliedDocument, ApplyResult, ImportOrigin } from '../../ports/projects.ts';
import { readAllDocuments } from '../configuration/tools-of-key.ts';
import { readAllPages } from '../read-pages.ts';
import { type ApplyDeps, type ApplyOptions, applyProject } from './apply-project.ts';
import { targetNames } from '../../core/toolset/entries/entry-targets.ts';

type Imported = { applied: ApplyResult; skipped: Skipped[]; warnings: Warning[] };

export async function importProject(
  deps: ApplyDeps,
  principal: Principal,
  read: ImportResult,
  options: Omit<ApplyOptions, 'project' | 'unset' | 'import'> & { import: ImportOrigin },
): Promise<Imported> {
  if (!options.import.isPartial) {
    const { project, unset, warnings } = readProject(read.project);
    const applied = await applyProject(deps, principal, project, { ...options, project: null, unset });
    return { applied, skipped: read.skipped, warnings: [...read.warnings, ...warnings] };
  }
  const settled = settleImport(read.project);
  const named = await withKnownServers(deps.catalog, settled.project, new Set(Object.keys(read.project.servers ?? {})));
  const project = await withOwnSettings(deps.catalog, named.project);
  const applying = { ...options, project: null, unset: settled.documents };
  const applied = await applyProject(deps, principal, project, applying);
  const listed = await withListedServers(deps.catalog, project, applied);
  const again = listed === null ? null : await applyProject(deps, principal, { toolsets: listed.toolsets }, applying);
  return {
    applied: again === null ? applied : replaced(applied, again, Object.keys(listed?.toolsets ?? {})),
    skipped: [...read.skipped, ...settled.skipped, ...named.skipped, ...(listed?.skipped ?? [])],
    warnings: [...read.warnings, ...settled.warnings],
  };
}

/**
 * Of the toolsets that were skipped, leaves out the entries of servers that were skipped, those for all tools of a server that has none, such as
 * one that cannot be reached, and tools and exceptions that a server does not list (any more), so that one of them does not cost the tools of the
 * others. Returns null if nothing is left out.
 */
async function withListedServers(
  catalog: CatalogPort,
  { toolsets = {} }: Project,
  { documents }: ApplyResult,
): Promise<{ toolsets: NonNullable<Project['toolsets']>; skipped: Skipped[] } | null> {
  const skippedOf = (wanted: AppliedDocument['kind']): string[] =>
    documents.flatMap(({ kind, name, action }) => (kind === wanted && action === 'skipped' ? [name] : []));
  const servers = new Set(skippedOf('server'));
  const ownNames = ownNamesReader(catalog);
  const skipped: Skipped[] = [];
  const left: NonNullable<Project['toolsets']> = {};
  for (const name of skippedOf('toolset')) {
    const toolset = toolsets[name];
    const tools: NonNullable<typeof toolset>['tools'] = [];
    const before = skipped.length;
    for (const [index, entry] of (toolset?.tools ?? []).entries()) {
      const place = `toolsets.${name}.tools[${index}]`;
      const targets = await Promise.all(
        targetNames(entry).map(async (named) => {
          const [, server = '', tool = ''] = /^([a-z][a-z0-9-]*)\.(.+)$/.exec(named) ?? [];
          return { named, server, tool, listed: servers.has(server) ? null : await ownNames(server) };
        }),
      );
      const faults = targets.flatMap(({ named, tool, listed }) => {
        const isUnknown = listed === null || (listed.length === 0 ? tool === '*' : !isListed(tool, listed));
        const reason = listed === null ? wasSkipped : listed.length === 0 ? noTools : noSuchTool;
        return isUnknown ? [{ name: `${place} (${named})`, reason }] : [];
      });
      skipped.push(...faults);
      if (faults.length === 0) {
        const { server = '', listed } = targets[0] ?? {};
        const stale =
          listed == null || listed.length === 0 ? [] : (entry.except ?? []).filter((one) => !isListed(ownName(one, server), listed));
        for (const one of stale) skipped.push({ name: `${place}.except (${one})`, reason: noSuchTool });
        const except = (entry.except ?? []).filter((one) => !stale.includes(one));
        const { except: _except, ...rest } = entry;
        tools.push(except.length > 0 ? { ...entry, except } : rest);
      }
    }
    if (toolset !== undefined && tools.length > 0 && skipped.length > before) left[name] = { ...toolset, tools };
  }
  return Object.keys(left).length === 0 ? null : { toolsets: left, skipped };
}

/** What servers list, by their own names, each read once. Empty: nothing yet. */
function ownNamesReader(catalog: CatalogPort): (server: string) => Promise<readonly string[]> {
  const known = new Map<string, readonly string[]>();
  return async (server) => {
    const tools = known.has(server) ? [] : await readAllPages((page) => catalog.tools(page, undefined, { server }));
    const names = known.get(server) ?? tools.map(({ canonical }) => ownName(canonical, server));
    known.set(server, names);
    return names;
  };
}

function ownName(name: string, server: string): string {
  return name.startsWith(`${server}.`) ? name.slice(server.length + 1) : name;
}

/** `pattern`: a name, or its beginning and `*`. */
function isListed(pattern: string, names: readonly string[]): boolean {
  return pattern.endsWith('*') ? names.some((name) => name.startsWith(pattern.slice(0, -1))) : names.includes(pattern);
}

const noSuchTool = 'its server lists no such tool';
const wasSkipped = 'its server was skipped';
const noTools = 'its server lists no tools yet. Import the file again when `moniker refresh` shows that it works';

/** `names`: the toolsets that were written again. To the second result, all other documents are missing in the file. */
function replaced(applied: ApplyResult, { documents, impact }: ApplyResult, names: readonly string[]): ApplyResult {
  const again = new Map(documents.filter(({ kind }) => kind === 'toolset').map((document) => [document.name, document]));
  const isAgain = ({ kind, name }: AppliedDocument): boolean => kind === 'toolset' && names.includes(name);
  const rows = [...(applied.impact?.rows ?? []), ...(impact?.rows ?? [])];
  const unknown = [...(applied.impact?.unknown ?? []), ...(impact?.unknown ?? [])];
  return {
    ...{ ...applied, ...(impact !== undefined && { impact: { rows, unknown } }) },
    documents: applied.documents.map((one) => (isAgain(one) ? (again.get(one.name) ?? one) : one)),
  };
}

/**
 * Leaves out the toolset entries of servers that neither the workspace nor the project has; HyperTool's files have toolsets only. `given`: the
 * servers of the file, skipped ones too.
 */
async function withKnownServers(
  catalog: CatalogPort,
  project: Project,
  given: ReadonlySet<string>,
): Promise<{ project: Project; skipped: Skipped[] }> {
  if (project.toolsets === undefined) return { project, skipped: [] };
  const stored = (await readAllDocuments(catalog, 'server')).map(({ name }) => name);
  const known = new Set([...reservedServers, ...Object.keys(project.servers ?? {}), ...stored]);
  const skipped: Skipped[] = [];
  const toolsets = Object.entries(project.toolsets).flatMap(([name, toolset]) => {
    const tools = toolset.tools.filter((entry, index) => {
      const serverOf = (tool: string): string => tool.slice(0, tool.indexOf('.'));
      const tool = targetNames(entry).find((one) => !known.has(serverOf(one)));
      if (tool === undefined) return true;
      const server = serverOf(tool);
      const reason = given.has(server)
        ? wasSkipped
        : `there is no server ${JSON.stringify(server)}: add it or import its file, then import this file again`;
      skipped.push({ name: `toolsets.${name}.tools[${index}] (${tool})`, reason });
      return false;
    });
    if (tools.length > 0) return [[name, { ...toolset, tools }] as const];
    skipped.push({ name: `toolsets.${name}`, reason: 'none of its tools can be taken' });
    return [];
  });
  return { project: { ...project, toolsets: Object.fromEntries(toolsets) }, skipped };
}

/** A map of names is added to that of the workspace, whose other settings stay. */
async function withOwnSettings(catalog: CatalogPort, project: Project): Promise<Project> {
  if (project.workspace === undefined) return project;
  const stored = await nullIfNotFound(catalog.get('workspace', workspaceDocument));
  const { settings } = Workspace.parse(stored?.body ?? {});
  const nameMap = { ...settings.nameMap, ...project.workspace.settings.nameMap };
  return { ...project, workspace: { settings: { ...settings, nameMap } } };
}
