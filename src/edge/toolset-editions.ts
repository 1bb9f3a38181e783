/**
 * The tools and toolsets of an edge handler. A toolset is compiled when it is first used, after its servers were read, and again when
 * their lists change: as in the Catalog, wildcards are expanded once, and names stay.
 */
import { withSkills } from '../formats/with-skills.ts';
import { checkMadeTool } from '../core/made/check-made-tool.ts';
import { MadeTool, MadeToolName, pinned } from '../core/tools/made-tool.ts';
import { toMissing } from '../core/tools/code-tools.ts';
import { madeToolset, toMadeDefinition, toMadeToolset } from '../core/made/made-toolset.ts';
import { rootKeyId } from '../core/people/principal.ts';
import { secretHostOf } from '../core/secrets/secret.ts';
import { invalidRequest, type Issue, Problem, quoted, type Warning } from '../core/problem.ts';
import { callUrlOf } from '../core/servers/server.ts';
import type { ToolDefinition } from '../core/tools/tool.ts';
import { toUiToolDefinition } from '../core/tools/ui-tool-definition.ts';
import { UiTool } from '../core/tools/ui-tool.ts';
import { compileEdition, editionBytes, editionHash } from '../core/toolset/edition.ts';
import type { EditionPointer, EditionTool } from '../core/toolset/edition-tool.ts';
import type { KnownTools } from '../core/toolset/known-tools.ts';
import type { Toolset, ToolsetEntry } from '../core/toolset/toolset.ts';
import { legalAliases } from '../core/toolset/tool-aliases.ts';
import { isWildcard } from '../core/toolset/wildcards.ts';
import type { ServedProject } from './served-project.ts';
import type { ServerLists } from './server-lists.ts';
import { targetNames, toolOf } from '../core/toolset/entries/entry-targets.ts';

export const edgeWorkspace = 'default';

/** `isComplete`: all servers of the toolset had been read, so that its wildcards are expanded. */
type Compiled = {
  generation: number;
  isComplete: boolean;
  pointer: EditionPointer;
  text: string;
  document: Toolset;
  tools: readonly EditionTool[];
  warnings: readonly Warning[];
};

type EditionParts = {
  project: ServedProject;
  lists: ServerLists;
  /** Built-in and local tools. */
  definitions: readonly ToolDefinition[];
  /** Reads the tools of these servers, for a limited time; never throws. */
  read(servers: readonly string[]): Promise<void>;
};

export type ToolsetEditions = ReturnType<typeof createToolsetEditions>;

export function createToolsetEditions({ project, lists, definitions, read }: EditionParts) {
  /** Increased by every change of a server's tools. */
  let generation = 0;
  let known: { generation: number; tools: Promise<KnownTools> } | null = null;
  const compiled = new Map<string, Compiled>();
  const texts = new Map<string, string>();

  const knownTools = (): Promise<KnownTools> => {
    if (known?.generation !== generation) known = { generation, tools: findTools(project, lists, definitions, generation === 0) };
    return known.tools;
  };

  const compile = async (name: string, source: Toolset, before: Compiled | null): Promise<Compiled> => {
    const startedIn = generation;
    const tools = await knownTools();
    const isComplete = serversOf(source, project, lists).every(lists.isListed);
    const isSettled = before?.isComplete === true;
    const document = isSettled ? before.document : withoutUnread(name, source, lists);
    // Secrets are checked when the project is read, and by each call.
    const { secret: _secret, ...recompiling } = tools;
    const compiled = await compileEdition({
      ...{ workspace: edgeWorkspace, name, toolset: { ...document, name }, known: isSettled ? recompiling : tools },
      ...(isSettled && { before: before.tools }),
    });
    const { edition, warnings } = await withSkills(compiled.edition, document, tools);
    const hash = await editionHash(edition);
    const revision = before === null ? 1 : before.pointer.revision + (before.pointer.hash === hash ? 0 : 1);
    return {
      ...{
        generation: startedIn,
        isComplete,
        document: compiled.toolset,
        tools: edition.tools,
        warnings: [...compiled.warnings, ...warnings],
      },
      pointer: { toolset: name, version, revision, hash },
      text: editionBytes(edition),
    };
  };

  const sourceOf = async (name: string): Promise<Toolset> => {
    const source = name === madeToolset ? toMadeToolset([...(await knownTools()).all()]) : project.toolsets.get(name);
    if (source === undefined || (name === madeToolset && source.tools.length === 0))
      throw new Problem('not_found', `There is no toolset ${quoted(name)}.`);
    return source;
  };

  const current = async (name: string): Promise<Compiled> => {
    const source = await sourceOf(name);
    await read(serversOf(source, project, lists).filter((server) => !lists.isListed(server)));
    const before = compiled.get(name) ?? null;
    if (before?.generation === generation) return before;
    const next = await compile(name, name === madeToolset ? await sourceOf(name) : source, name === madeToolset ? null : before).catch(
      (error: unknown) => {
        // As in the Catalog: tools that conflict with names of the toolset leave its edition as it was.
        if (before?.isComplete !== true || !(error instanceof Problem)) throw error;
        return { ...before, generation };
      },
    );
    // The previous edition stays readable for requests that have begun with it.
    for (const hash of texts.keys()) if (!isCurrent(hash, [...compiled.values(), next])) texts.delete(hash);
    compiled.set(name, next);
    texts.set(next.pointer.hash, next.text);
    return next;
  };

  return {
    known: knownTools,
    changed(): void {
      generation += 1;
    },
    /** Compiles all toolsets with what is known without a request. Throws `invalid_request` and `name_conflict` with the toolset. */
    async check(): Promise<Warning[]> {
      const warnings: Warning[] = [];
      // Made tools may be in no toolset.
      await knownTools();
      for (const [name, source] of project.toolsets) {
        const isOpen = !serversOf(source, project, lists).every(lists.isListed);
        const result = await compile(name, source, null).catch((error: unknown) => {
          if (!(error instanceof Problem)) throw error;
          if (error.code === 'unavailable') return null;
          throw inToolset(name, error);
        });
        // Otherwise the tools of servers that are not read yet are reported as missing.
        if (!isOpen) warnings.push(...(result?.warnings ?? []).map(({ path, message }) => ({ path: `toolsets.${name}.${path}`, message })));
      }
      return warnings;
    },
    async pointer(name: string, pinnedVersion: number | undefined): Promise<EditionPointer> {
      if (pinnedVersion !== undefined && pinnedVersion !== version)
        throw new Problem('not_found', `The toolset ${quoted(name)} has no version ${pinnedVersion}.`);
      return (await current(name)).pointer;
    },
    text(hash: string): string {
      const text = texts.get(hash);
      if (text === undefined) throw new Problem('not_found', 'The edition does not exist.');
      return text;
    },
    /** The document as GET shows it: with its wildcards expanded, once it was compiled. */
    document: (name: string): Toolset | undefined => compiled.get(name)?.document ?? project.toolsets.get(name),
    isNamed: (canonical: string): boolean =>
      [...project.toolsets.values(), ...[...compiled.values()].map(({ document }) => document)].some(({ tools }) =>
        tools.some((entry) => targetNames(entry).includes(canonical)),
      ),
  };
}

const version = 1;

function isCurrent(hash: string, all: readonly Compiled[]): boolean {
  return all.some(({ pointer }) => pointer.hash === hash);
}

function inToolset(name: string, { code, detail, extra }: Problem): Problem {
  const issues = Array.isArray(extra.issues) ? (extra.issues as Issue[]) : null;
  const at = issues === null ? extra : { ...extra, issues: issues.map((issue) => ({ ...issue, path: `toolsets.${name}.${issue.path}` })) };
  return new Problem(code, `The toolset "${name}": ${detail}`, at);
}

function serverOf(tool: string): string {
  return tool.slice(0, Math.max(tool.indexOf('.'), 0));
}

/** Returns the servers of the project that the toolset needs. An entry with `refId` alone may name any. */
function serversOf({ tools }: Toolset, project: ServedProject, lists: ServerLists): string[] {
  const servers = tools.flatMap((entry) => {
    if (entry.tool === undefined) return lists.names();
    const made = project.tools.get(toolOf(entry) ?? '');
    if (made === undefined || !('implementation' in made)) return targetNames(entry).map(serverOf);
    return made.uses === undefined ? lists.names() : made.uses.map(serverOf);
  });
  return [...new Set(servers)].filter(lists.has);
}

/** Returns the document without the wildcards of servers whose tools are not known. Throws `unavailable` if nothing else is in it. */
function withoutUnread(name: string, source: Toolset, lists: ServerLists): Toolset {
  const isUnread = (entry: ToolsetEntry): boolean =>
    isWildcard(entry) &&
    targetNames(entry)
      .map(serverOf)
      .every((server) => !lists.isListed(server) && lists.has(server));
  const tools = source.tools.filter((entry) => !isUnread(entry));
  if (tools.length > 0 || source.tools.length === 0) return { ...source, tools };
  const reasons = source.tools.map((entry) => {
    const server = serverOf(toolOf(entry) ?? '');
    return `"${server}"${lists.failureOf(server) === null ? '' : ` (${lists.failureOf(server)})`}`;
  });
  const detail = `The toolset "${name}" has no tools until its servers can be read: ${[...new Set(reasons)].join(', ')}.`;
  throw new Problem('unavailable', detail, { retryAfterMs: unreadRetryMs });
}

const unreadRetryMs = 10_000;

/** All tools, with default aliases. `isStart`: throws `invalid_request` for made tools that can never run; later they are missing. */
async function findTools(
  { tools, toolAliases, servers, secrets, skills, settings }: ServedProject,
  lists: ServerLists,
  definitions: readonly ToolDefinition[],
  isStart: boolean,
): Promise<KnownTools> {
  const byName = new Map<string, ToolDefinition>();
  const add = (definition: ToolDefinition): void => {
    const given = Object.hasOwn(toolAliases, definition.canonical) ? toolAliases[definition.canonical] : undefined;
    byName.set(definition.canonical, given === undefined ? definition : { ...definition, aliases: legalAliases(given.aliases) });
  };
  for (const definition of [...definitions, ...lists.definitions()]) add(definition);
  for (const [name, tool] of tools) if (!('implementation' in tool)) add(toUiToolDefinition(name, UiTool.parse(tool)));
  const known: KnownTools = {
    get: (canonical) => byName.get(canonical),
    all: () => byName.values(),
    hasServer: (server) => lists.has(server) || [...byName.values()].some((tool) => tool.server === server),
    secret: (name) => secrets.get(name),
    host(server) {
      const document = servers.get(server);
      const url = document === undefined ? null : callUrlOf(document);
      return url === null ? undefined : secretHostOf(url);
    },
    skill: (name) => skills.get(name),
    nameMap: settings.nameMap,
  };
  const open = await addMadeTools(tools, known, add);
  if (isStart && open.length > 0 && lists.names().every(lists.isListed)) throw invalidRequest(open.flatMap(({ issues }) => issues));
  // They may use tools of servers that are not read yet.
  for (const { name } of open) add(toMissing('made', name));
  return known;
}

/** Made tools may use one another, in any order; the project's author counts as the root key. Returns those that cannot be added. */
async function addMadeTools(
  tools: ServedProject['tools'],
  known: KnownTools,
  add: (definition: ToolDefinition) => void,
): Promise<{ name: string; issues: Issue[] }[]> {
  let open = [...tools].flatMap(([name, tool]) =>
    MadeToolName.safeParse(name).success ? [{ name, tool: MadeTool.parse(tool), issues: [] as Issue[] }] : [],
  );
  for (let left = open.length + 1; open.length < left; ) {
    left = open.length;
    const next: typeof open = [];
    for (const { name, tool } of open) {
      const { tool: checked, issues } = checkMadeTool(name, { ...tool, by: rootKeyId }, known);
      if (issues.length > 0)
        next.push({ name, tool, issues: issues.map(({ path, message }) => ({ path: `tools["${name}"].${path}`, message })) });
      else add(toMadeDefinition(name, await pinned(name, checked)));
    }
    open = next;
  }
  return open;
}
