/**
 * Makes tools for `create_tool`, in the Catalog and on behalf of a key. The code may call tools of the calling plan by any name they have there;
 * canonical names are stored. A tool is private to the key unless it is shared, which needs the same right as over REST. Rights are read when
 * they are needed, as in `toolset-editor.ts`.
 */
import { resolveName, toolsNamed, type AliasMap } from '../../core/toolset/alias-map.ts';
import { isForModels, type EditionTool } from '../../core/toolset/edition-tool.ts';
import { limits } from '../../core/limits/limits.ts';
import { withoutFence } from '../../core/made/code-uses.ts';
import { boundNames, readUses, type Lookup, type LookupTool } from '../../core/made/uses.ts';
import { MadeTool, MadeToolName, type StoredMadeTool } from '../../core/tools/made-tool.ts';
import { madeCanonical, madeServer } from '../../core/made/made-toolset.ts';
import { privateToolName } from '../../core/made/made-toolset.ts';
import { quote } from '../../core/names/names.ts';
import { isAllowed } from '../../core/people/authority.ts';
import { invalidRequest, nullIfNotFound, Problem, quoted, parseInput } from '../../core/problem.ts';
import type { Toolset } from '../../core/toolset/toolset.ts';
import type { CatalogPort, PutAnswer, StoredDocument, WriteOptions } from '../../ports/catalog.ts';
import type { ToolsetEditor } from '../../ports/toolset-editor.ts';
import type { Sandbox } from '../../ports/sandbox.ts';
import type { MadeToolOutcome, MakeRequest, RegistryChange, ToolMaker } from '../../ports/tool-maker.ts';
import { requireMayHoldSecrets, requireCompiles, writeMadeTool } from './write-made-tool.ts';
import { listFirst } from '../../core/text/paragraphs.ts';
import { toolOf } from '../../core/toolset/entries/entry-targets.ts';

/** `editor`: the toolset editor of the same key. `offered`: what the plan offers; null: nothing. */
export type MakerParts = {
  catalog: CatalogPort;
  keyId: string;
  sandbox: Pick<Sandbox, 'check'>;
  editor: Pick<ToolsetEditor, 'toolset' | 'write'>;
  offered: AliasMap | null;
};

export function createToolMaker(parts: MakerParts): ToolMaker {
  const { catalog, keyId, sandbox, offered } = parts;
  return {
    async prepare({ name, toolset, share = toolset !== undefined, ...request }) {
      const { canonical, tool } = readRequest(name, request);
      await requireMayHoldSecrets(catalog, (await catalog.keyRights(keyId)) ?? { scopes: [] }, canonical);
      await requireCompiles(sandbox, tool.implementation);
      const stored = await nullIfNotFound(
        share ? catalog.get('made-tool', canonical) : catalog.get('private-tool', privateToolName(keyId, canonical)),
      );
      const read = readUses(tool, lookupIn(offered, share), boundIn(offered, share, stored));
      if (read.issues.length > 0) throw invalidRequest(read.issues);
      const target = share ? await sharedTarget(parts, canonical) : privateTarget(parts, canonical);
      const document = { ...tool, uses: read.uses, names: read.names };
      const checked = await target.put(document, { dryRun: true });
      const isReplaced = checked.changed && !checked.created;
      if (isReplaced) target.requireMayReplace();
      const place = toolset === undefined ? null : await findPlace(parts, toolset, canonical);
      const changes: RegistryChange[] = [
        // The first change that needs approval is the one named in the question.
        ...(place !== null && !place.isListed ? [{ change: 'write-toolset' as const, name: place.name }] : []),
        ...(checked.changed ? [{ change: isReplaced ? ('replace-tool' as const) : target.creates, name: canonical }] : []),
      ];
      return {
        changes,
        async store() {
          // Replaces exactly the version that was checked.
          const condition = checked.created ? { ifNoneMatch: true } : { ifMatch: checked.document.version - (isReplaced ? 1 : 0) };
          const { document: stored, warnings } = await target.put(document, condition);
          return {
            canonical,
            version: stored.version,
            uses: read.uses,
            aliases: tool.aliases ?? [],
            outcome: checked.created ? 'made' : isReplaced ? 'replaced' : 'unchanged',
            shared: share,
            toolset: place === null ? null : await listIn(parts, place, canonical),
            // The Catalog, which gets canonical names, repeats some of them with another path.
            warnings: [...new Map([...warnings, ...read.warnings].map(({ path, message }) => [message, `${path}: ${message}`])).values()],
          };
        },
      };
    },
  };
}

/** Where the tool is stored. `creates`: the registry change for a new tool. */
type Target = {
  put(document: MadeTool, options: WriteOptions): Promise<PutAnswer>;
  creates: 'create-tool' | 'share-tool';
  requireMayReplace(): void;
};

function privateTarget({ catalog, keyId }: MakerParts, canonical: string): Target {
  return {
    put: (document, options) => catalog.put('private-tool', privateToolName(keyId, canonical), document, options),
    creates: 'create-tool',
    requireMayReplace: () => undefined,
  };
}

/** As over REST: sharing needs the scope `toolsets`; replacing a tool may affect any toolset, so it needs the scope for the whole workspace. */
async function sharedTarget({ catalog, keyId }: MakerParts, canonical: string): Promise<Target> {
  const rights = await catalog.keyRights(keyId);
  if (rights === null || !isAllowed(rights, { act: 'share-tool' }))
    throw new Problem(
      'forbidden',
      `This key may not share ${quoted(canonical)}: that requires the scope "toolsets". Leave out share and toolset to make a private tool.`,
    );
  return {
    put: (tool, options) => writeMadeTool(catalog, { keyId }, { canonical, tool, options }),
    creates: 'share-tool',
    requireMayReplace() {
      if (isAllowed(rights, { act: 'use-workspace', what: 'Made tools' })) return;
      throw new Problem(
        'forbidden',
        `A shared tool ${quoted(canonical)} already exists, and this key may not replace it: that requires the scope "toolsets" for the whole workspace. Choose another name.`,
      );
    },
  };
}

function readRequest(name: string, request: Omit<MakeRequest, 'name' | 'toolset' | 'share'>): { canonical: string; tool: MadeTool } {
  const canonical = name.startsWith(`${madeServer}.`) ? name : madeCanonical(name);
  const fault = MadeToolName.safeParse(canonical).error?.issues[0]?.message;
  if (fault !== undefined)
    throw invalidRequest([
      { path: 'name', message: `${quote(name)} would be stored as ${quote(canonical)}, which is not valid: ${fault}` },
    ]);
  return { canonical, tool: parseInput(MadeTool, { ...request, implementation: withoutFence(request.implementation) }) };
}

/**
 * Names that mean several tools of the plan keep the meaning that they have in the stored version of the tool. Others mean what the plan calls
 * so: the model that writes the code sees no other names.
 */
function boundIn(offered: AliasMap | null, share: boolean, stored: StoredDocument | null): (name: string) => LookupTool | null {
  if (offered === null || stored === null) return () => null;
  // Made tools were parsed by the schema when they were written.
  const bound = boundNames(stored.body as StoredMadeTool, (canonical) => {
    const tool = offered.tools.find((other) => other.canonical === canonical);
    return tool === undefined || faultOf(tool, share) !== null ? null : toNamedTool(tool);
  });
  return (name) => (toolsNamed(offered, name).length > 1 ? bound(name) : null);
}

/** Resolves names as calls of the plan do. One that means several tools means the built-in tool among them. */
function lookupIn(offered: AliasMap | null, share: boolean): Lookup {
  const taken = (tool: EditionTool): ReturnType<Lookup> => {
    const fault = faultOf(tool, share);
    return fault === null ? { tool: toNamedTool(tool) } : { fault };
  };
  return (name) => {
    const found = offered === null ? null : resolveName(offered, name);
    if (found?.ok) return taken(found.tool);
    const hits = offered === null ? [] : toolsNamed(offered, name);
    // Several entries of one tool count as one tool for code.
    const first = hits.filter(({ canonical, kind }) => canonical === name || kind === 'builtin');
    const others = new Set(hits.map(({ canonical }) => canonical as string));
    const [entry] = first;
    if (entry !== undefined && first.every(({ canonical }) => canonical === entry.canonical) && codeMayCall(entry)) {
      others.delete(entry.canonical);
      return { ...taken(entry), others: [...others] };
    }
    const near = found === null ? [] : found.code === 'ambiguous_tool' ? found.candidates : found.suggestions;
    const hint = near.length > 0 ? `did you mean ${near.join(', ')}?` : availableTools(offered);
    return { fault: `${quote(name)} is not one of the offered tools; ${hint}`, others: [...others] };
  };
}

/** Returns why code may not call the tool. `share`: it will be called with other keys, which do not have this key's private tools. */
function faultOf(tool: EditionTool, share: boolean): string | null {
  if (!codeMayCall(tool)) return `${tool.canonical} cannot be called by code`;
  return share && tool.made?.private === true ? `${tool.canonical} is private to this key. Share it first` : null;
}

/** Client tools and UI tools belong to one conversation only, so code may not call them. */
function codeMayCall(tool: EditionTool): boolean {
  return isForModels(tool) && tool.kind !== 'client';
}

function availableTools(offered: AliasMap | null): string {
  const names = (offered?.tools ?? []).filter(codeMayCall).map(({ wireName }) => wireName);
  if (names.length === 0) return 'no tools are available to code';
  return `available tools: ${listFirst(names, limits.maxReportedWarnings)}`;
}

function toNamedTool({ canonical, ownName, wireName, kind, aliases, state }: EditionTool): LookupTool {
  return { canonical, name: ownName, kind, aliases: [wireName, ...aliases.map(({ name }) => name)], source: { state } };
}

/** `isListed`: the toolset already lists the tool. */
type Place = { name: string; document: StoredDocument; isListed: boolean };

async function findPlace({ editor }: MakerParts, name: string, canonical: string): Promise<Place> {
  const document = await editor.toolset(name);
  if (document === null) throw new Problem('not_found', `There is no toolset ${quoted(name)} that this key may use.`);
  return { name, document, isListed: toolsetOf(document).tools.some((entry) => toolOf(entry) === canonical) };
}

async function listIn({ editor }: MakerParts, { name, document, isListed }: Place, canonical: string): Promise<MadeToolOutcome['toolset']> {
  if (isListed) return { name, version: document.version };
  const toolset = toolsetOf(document);
  try {
    const written = await editor.write(name, { ...toolset, tools: [...toolset.tools, { tool: canonical }] }, document.version);
    return { name, version: written.document.version };
  } catch (error) {
    // The tool is already stored, so a failure here is reported instead of thrown.
    if (error instanceof Problem) return { name, fault: error.detail };
    throw error;
  }
}

/** Bodies of toolsets were parsed by the schema when they were written. */
function toolsetOf({ body }: StoredDocument): Toolset {
  return body as Toolset;
}
