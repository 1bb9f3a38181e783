/**
 * Making tools for `create_tool`, over the Catalog and in the name of a key. What its code calls are tools of the plan that the call comes from, by any name
 * that they have there; by what it is stored they are canonical names. The key's rights are read when they are needed, as by
 * `configuration-desk.ts`: a new tool needs none beyond that the plan has `create_tool`; replacing one and writing a toolset are for keys that might do
 * it over REST.
 */
import { resolveName, type AliasMap } from '../core/alias-map.ts';
import { isForModels, type EditionTool } from '../core/edition-tool.ts';
import { parseDocument } from '../core/issues.ts';
import { limits } from '../core/limits.ts';
import { withoutFence } from '../core/made/code-fence.ts';
import { madeCanonical, madeServer } from '../core/made/made-definition.ts';
import { readUses } from '../core/made/read-uses.ts';
import type { Lookup, NamedTool } from '../core/made/tool-lookup.ts';
import { MadeTool, MadeToolName } from '../core/made-tool.ts';
import { quote } from '../core/names.ts';
import { isAllowed } from '../core/authority.ts';
import { hasScope } from '../core/principal.ts';
import { invalidRequest, Problem, quoted } from '../core/problem.ts';
import type { Toolset } from '../core/toolset.ts';
import type { Catalog, StoredDocument } from '../ports/catalog.ts';
import type { ConfigurationDesk } from '../ports/configuration-desk.ts';
import type { Sandbox } from '../ports/sandbox.ts';
import type { Made, MakeRequest, RegistryChange, ToolMaker } from '../ports/tool-maker.ts';
import { requireMayHoldSecrets } from './made-tool-secrets.ts';
import { requireCompiles } from './write-made-tool.ts';

/** `desk`: of the same key. `offered`: what the plan offers; null: nothing. */
export type MakerParts = {
  catalog: Catalog;
  keyId: string;
  sandbox: Pick<Sandbox, 'check'>;
  desk: Pick<ConfigurationDesk, 'toolset' | 'write'>;
  offered: AliasMap | null;
};

export function createToolMaker(parts: MakerParts): ToolMaker {
  const { catalog, sandbox, offered } = parts;
  return {
    async prepare({ name, toolset, ...request }) {
      const { canonical, tool } = readRequest(name, request);
      await requireMayHoldSecrets(catalog, (await catalog.keyRights(parts.keyId)) ?? { scopes: [] }, canonical);
      await requireCompiles(sandbox, tool.implementation);
      const read = readUses(tool, lookupIn(offered));
      if (read.issues.length > 0) throw invalidRequest(read.issues);
      const document = { ...tool, uses: read.uses, names: read.names };
      const checked = await catalog.put('made-tool', canonical, document, { dryRun: true });
      const isReplaced = checked.changed && !checked.created;
      if (isReplaced) await requireMayReplace(parts, canonical);
      const place = toolset === undefined ? null : await findPlace(parts, toolset, canonical);
      const changes: RegistryChange[] = [
        ...(checked.changed ? [{ change: isReplaced ? ('replace-tool' as const) : ('create-tool' as const), name: canonical }] : []),
        ...(place !== null && !place.isListed ? [{ change: 'write-toolset' as const, name: place.name }] : []),
      ];
      return {
        changes,
        async store() {
          // What was looked at is what is replaced, or nothing.
          const condition = checked.created ? { ifNoneMatch: true } : { ifMatch: checked.document.version - (isReplaced ? 1 : 0) };
          const { document: stored, warnings } = await catalog.put('made-tool', canonical, document, condition);
          return {
            canonical,
            version: stored.version,
            uses: read.uses,
            aliases: tool.aliases ?? [],
            outcome: checked.created ? 'made' : isReplaced ? 'replaced' : 'unchanged',
            toolset: place === null ? null : await listIn(parts, place, canonical),
            warnings: warnings.map(({ path, message }) => `${path}: ${message}`),
          };
        },
      };
    },
  };
}

function readRequest(name: string, request: Omit<MakeRequest, 'name' | 'toolset'>): { canonical: string; tool: MadeTool } {
  const canonical = name.startsWith(`${madeServer}.`) ? name : madeCanonical(name);
  const fault = MadeToolName.safeParse(canonical).error?.issues[0]?.message;
  if (fault !== undefined)
    throw invalidRequest([{ path: 'name', message: `${quote(name)}, which is stored as ${quote(canonical)}: ${fault}` }]);
  return { canonical, tool: parseDocument(MadeTool, { ...request, implementation: withoutFence(request.implementation) }) };
}

/** Names as calls of the plan are resolved. */
function lookupIn(offered: AliasMap | null): Lookup {
  return {
    find(name) {
      const found = offered === null ? null : resolveName(offered, name);
      if (found?.ok)
        return codeMayCall(found.tool) ? { tool: toNamedTool(found.tool) } : { fault: `${found.canonical} cannot be called by code` };
      // Several entries of one tool are one tool to code.
      const entries = found?.code === 'ambiguous_tool' ? (offered?.tools ?? []).filter(({ canonical }) => canonical === name) : [];
      const [entry] = entries;
      if (entry !== undefined && codeMayCall(entry)) return { tool: toNamedTool(entry) };
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

/** As over REST: any toolset may have it. */
async function requireMayReplace({ catalog, keyId }: MakerParts, canonical: string): Promise<void> {
  const rights = await catalog.keyRights(keyId);
  if (rights !== null && hasScope(rights, 'toolsets') && isAllowed(rights, { act: 'use-workspace', what: 'Made tools' })) return;
  throw new Problem(
    'forbidden',
    `There is a tool ${quoted(canonical)} already, and the key that this runs with may not replace it: that needs the scope "toolsets" for the whole workspace. Take another name.`,
  );
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
