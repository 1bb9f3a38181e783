/**
 * Writes a shared made tool on behalf of a key, over REST or by `create_tool`. A key bound to toolsets makes new tools from the tools of
 * these toolsets, and sees no others. Only keys of the whole workspace may replace a tool, since any toolset may list it.
 */
import { readUses, createLookup } from '../../core/made/uses.ts';
import { privateToolName } from '../../core/made/made-toolset.ts';
import type { MadeTool } from '../../core/tools/made-tool.ts';
import type { Principal } from '../../core/people/principal.ts';
import { invalidRequest, nullIfNotFound, Problem, quoted } from '../../core/problem.ts';
import type { ToolDefinition } from '../../core/tools/tool.ts';
import type { CatalogPort, PutAnswer, WriteOptions } from '../../ports/catalog.ts';
import type { Sandbox } from '../../ports/sandbox.ts';
import { readDefinitions, toolsOfToolsets, readAllDocuments } from './tools-of-key.ts';
import { isAllowed, requireAllowed, type Rights } from '../../core/people/authority.ts';
import type { SecretBinding } from '../../core/secrets/secret.ts';

/** Checks the syntax of the code, which the Catalog does not. Throws `invalid_request`. */
export async function requireCompiles(sandbox: Pick<Sandbox, 'check'>, implementation: string): Promise<void> {
  const fault = await sandbox.check(implementation);
  if (fault === null) return;
  const where = fault.line === null ? '' : `line ${fault.line}: `;
  throw invalidRequest([{ path: 'implementation', message: `is not valid JavaScript: ${where}${fault.message}` }]);
}

export type MadeToolWrite = { canonical: string; tool: MadeTool; options: WriteOptions };

export async function writeMadeTool(
  catalog: CatalogPort,
  principal: Pick<Principal, 'keyId' | 'toolsets'>,
  write: MadeToolWrite,
): Promise<PutAnswer> {
  const answer = await putShared(catalog, principal, write);
  if (write.options.dryRun !== true) await removePrivate(catalog, principal.keyId, write.canonical);
  return answer;
}

async function putShared(
  catalog: CatalogPort,
  { keyId: by, toolsets }: Pick<Principal, 'keyId' | 'toolsets'>,
  { canonical, tool, options }: MadeToolWrite,
): Promise<PutAnswer> {
  if (toolsets === undefined) return await catalog.put('made-tool', canonical, { ...tool, by }, options);
  if ((await nullIfNotFound(catalog.get('made-tool', canonical))) !== null)
    throw new Problem(
      'forbidden',
      `${quoted(canonical)} already exists, and this key is bound to a part of the workspace, so it may not replace it. Choose another name.`,
    );
  const reached = readUses(tool, createLookup(byName(await readDefinitions(catalog, await toolsOfToolsets(catalog, toolsets)))));
  if (reached.issues.length > 0) throw invalidRequest(reached.issues);
  const { uses, names } = reached;
  return await catalog.put('made-tool', canonical, { ...tool, uses, names, by }, { ...options, ifNoneMatch: true });
}

/** Removes the key's private tool of this name after it was shared: otherwise this key alone would still call the old one. */
async function removePrivate(catalog: CatalogPort, keyId: string, canonical: string): Promise<void> {
  await nullIfNotFound(catalog.remove('private-tool', privateToolName(keyId, canonical)));
}

function byName(tools: readonly ToolDefinition[]) {
  const table = new Map<string, ToolDefinition>(tools.map((tool) => [tool.canonical, tool]));
  return { get: (canonical: string) => table.get(canonical), all: () => tools };
}

/**
 * Only an administrator may write the code of a made tool that a secret is bound to, by REST or by `create_tool`, since that code can read
 * the secret. Throws `forbidden`.
 */
export async function requireMayHoldSecrets(catalog: Pick<CatalogPort, 'list'>, rights: Rights, canonical: string): Promise<void> {
  const act = { act: 'waive', what: `Writing ${canonical}, which a secret is bound to,` } as const;
  if (isAllowed(rights, act)) return;
  const secrets = await readAllDocuments(catalog, 'secret');
  // Bodies of secrets were parsed by the schema when they were written.
  if (secrets.some(({ body }) => (body as SecretBinding).tools?.includes(canonical))) requireAllowed(rights, act);
}
