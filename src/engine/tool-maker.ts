/**
 * Makes tools for `create_tool`, over the Catalog and in the name of a key. Its code calls tools of the plan that the call comes from, by any name that they
 * have there; canonical names are stored. A tool is private to the key unless it is to be shared, which needs the key's right to do so over REST; the
 * rights are read when they are needed, as by `configuration-desk.ts`.
 */
import { resolveName, type AliasMap } from '../core/alias-map.ts';
import { isForModels, type EditionTool } from '../core/edition-tool.ts';
import { parseDocument } from '../core/issues.ts';
import { limits } from '../core/limits.ts';
import { withoutFence } from '../core/made/code-fence.ts';
import { madeCanonical, madeServer } from '../core/made/made-definition.ts';
import { privateToolName } from '../core/made/made-toolset.ts';
import { readUses } from '../core/made/read-uses.ts';
import type { Lookup, NamedTool } from '../core/made/tool-lookup.ts';
import { MadeTool, MadeToolName } from '../core/made-tool.ts';
import { quote } from '../core/names.ts';
import { isAllowed } from '../core/authority.ts';
import { hasScope } from '../core/principal.ts';
import { invalidRequest, Problem, quoted } from '../core/problem.ts';
import type { Toolset } from '../core/toolset.ts';
import type { Catalog, PutAnswer, StoredDocument, WriteOptions } from '../ports/catalog.ts';
import type { ConfigurationDesk } from '../ports/configuration-desk.ts';
import type { Sandbox } from '../ports/sandbox.ts';
import type { Made, MakeRequest, RegistryChange, ToolMaker } from '../ports/tool-maker.ts';
import { requireMayHoldSecrets } from './made-tool-secrets.ts';
import { requireCompiles, writeMadeTool } from './write-made-tool.ts';

/** `desk`: of the same key. `offered`: what the plan offers; null: nothing. */
export type MakerParts = {
  catalog: Catalog;
  keyId: string;
  sandbox: Pick<Sandbox, 'check'>;
  desk: Pick<ConfigurationDesk, 'toolset' | 'write'>;
  offered: AliasMap | null;
};

export function createToolMaker(parts: MakerParts): ToolMaker {
  const { catalog, keyId, sandbox, offered } = parts;
  return {
    async prepare({ name, toolset, share = toolset !== undefined, ...request }) {
      const { canonical, tool } = readRequest(name, request);
      await requireMayHoldSecrets(catalog, (await catalog.keyRights(keyId)) ?? { scopes: [] }, canonical);
      await requireCompiles(sandbox, tool.implementation);
      const read = readUses(tool, lookupIn(offered, share));
      if (read.issues.length > 0) throw invalidRequest(read.issues);
      const target = share ? await sharedTarget(parts, canonical) : privateTarget(parts, canonical);
      const document = { ...tool, uses: read.uses, names: read.names };
      const checked = await target.put(document, { dryRun: true });
      const isReplaced = checked.changed && !checked.created;
      if (isReplaced) target.requireMayReplace();
      const place = toolset === undefined ? null : await findPlace(parts, toolset, canonical);
      const changes: RegistryChange[] = [
        // The first that needs an approval is named in the question.
        ...(place !== null && !place.isListed ? [{ change: 'write-toolset' as const, name: place.name }] : []),
        ...(checked.changed ? [{ change: isReplaced ? ('replace-tool' as const) : target.creates, name: canonical }] : []),
      ];
      return {
        changes,
        async store() {
          // What was looked at is what is replaced, or nothing.
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
            warnings: warnings.map(({ path, message }) => `${path}: ${message}`),
          };
        },
      };
    },
  };
}

/** Where the tool is stored. `creates`: what a new one changes of the registry. */
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

/** As over REST: sharing needs the scope `toolsets`; replacing, which any toolset may notice, needs it for the whole workspace. */
async function sharedTarget({ catalog, keyId }: MakerParts, canonical: string): Promise<Target> {
  const rights = await catalog.keyRights(keyId);
  if (rights === null || !hasScope(rights, 'toolsets') || !isAllowed(rights, { act: 'make-tool' }))
    throw new Problem(
      'forbidden',
      `The key that this runs with may not share ${quoted(canonical)}: that needs the scope "toolsets". Leave out share and toolset to make a private tool.`,
    );
  return {
    put: (tool, options) => writeMadeTool(catalog, { keyId }, { canonical, tool, options }),
    creates: 'share-tool',
    requireMayReplace() {
      if (isAllowed(rights, { act: 'use-workspace', what: 'Made tools' })) return;
      throw new Problem(
        'forbidden',
        `There is a shared tool ${quoted(canonical)} already, and the key that this runs with may not replace it: that needs the scope "toolsets" for the whole workspace. Take another name.`,
      );
    },
  };
}

function readRequest(name: string, request: Omit<MakeRequest, 'name' | 'toolset' | 'share'>): { canonical: string; tool: MadeTool } {
  const canonical = name.startsWith(`${madeServer}.`) ? name : madeCanonical(name);
  const fault = MadeToolName.safeParse(canonical).error?.issues[0]?.message;
  if (fault !== undefined)
    throw invalidRequest([{ path: 'name', message: `${quote(name)}, which is stored as ${quote(canonical)}: ${fault}` }]);
  return { canonical, tool: parseDocument(MadeTool, { ...request, implementation: withoutFence(request.implementation) }) };
}

/** Names as calls of the plan are resolved. `share`: the tool is to be called by others, who have no private tools of this key. */
function lookupIn(offered: AliasMap | null, share: boolean): Lookup {
  const taken = (tool: EditionTool): ReturnType<Lookup['find']> => {
    if (!codeMayCall(tool)) return { fault: `${tool.canonical} cannot be called by code` };
    if (share && tool.made?.private === true) return { fault: `${tool.canonical} is private to this key: share it first` };
    return { tool: toNamedTool(tool) };
  };
  return {
    find(name) {
      const found = offered === null ? null : resolveName(offered, name);
      if (found?.ok) return taken(found.tool);
      // Several entries of one tool are one tool to code.
      const entries = found?.code === 'ambiguous_tool' ? (offered?.tools ?? []).filter(({ canonical }) => canonical === name) : [];
      const [entry] = entries;
      if (entry !== undefined && codeMayCall(entry)) return taken(entry);
      const near = found === null ? [] : found.code === 'ambiguous_tool' ? found.candidates : found.suggestions;
      const told = near.length > 0 ? `did you mean ${near.join(', ')}?` : whatThereIs(offered);
      return { fault: `${quote(name)} is none of the tools that you have; ${told}` };
    },
  };
}

/** Its caller's own tools, and those of a page, are of that conversation alone. */
function codeMayCall(tool: EditionTool): boolean {
  return isForModels(tool) && tool.kind !== 'client';
}

function whatThereIs(offered: AliasMap | null): string {
  const names = (offered?.tools ?? []).filter(codeMayCall).map(({ wireName }) => wireName);
  if (names.length === 0) return 'there are none that code could call';
  const told = names.slice(0, limits.maxToldAdvice);
  return `there are ${told.join(', ')}${names.length > told.length ? ` and ${names.length - told.length} more` : ''}`;
}

function toNamedTool({ canonical, ownName, wireName, kind, aliases, state }: EditionTool): NamedTool {
  return { canonical, name: ownName, kind, aliases: [wireName, ...aliases.map(({ name }) => name)], source: { state } };
}

/** `isListed`: it has the tool already. */
type Place = { name: string; document: StoredDocument; isListed: boolean };

async function findPlace({ desk }: MakerParts, name: string, canonical: string): Promise<Place> {
  const document = await desk.toolset(name);
  if (document === null) throw new Problem('not_found', `There is no toolset ${quoted(name)} that the key that this runs with may use.`);
  return { name, document, isListed: toolsetOf(document).tools.some(({ tool }) => tool === canonical) };
}

async function listIn({ desk }: MakerParts, { name, document, isListed }: Place, canonical: string): Promise<Made['toolset']> {
  if (isListed) return { name, version: document.version };
  const toolset = toolsetOf(document);
  try {
    const written = await desk.write(name, { ...toolset, tools: [...toolset.tools, { tool: canonical }] }, document.version);
    return { name, version: written.document.version };
  } catch (error) {
    // The tool is stored by now, whatever becomes of this.
    if (error instanceof Problem) return { name, fault: error.detail };
    throw error;
  }
}

/** Bodies of toolsets were parsed by the schema when they were written. */
function toolsetOf({ body }: StoredDocument): Toolset {
  return body as Toolset;
}
