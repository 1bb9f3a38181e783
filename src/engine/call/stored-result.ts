/**
 * Answers a call of a tool that only reads from the stored result of an equal one. The call was authorized, judged and approved as any other, and redaction,
 * taint marks, guard and bounds apply to the stored result as to a new one.
 */
import { canonicalJson, sha256Hex } from '../../core/hash.ts';
import { type EditionTool, onlyReads } from '../../core/toolset/edition-tool.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import type { StoredResults } from '../../ports/result-store.ts';
import type { ToolOutcome } from '../../ports/tool-executor.ts';
import type { CallDeps, CallScope } from './call-scope.ts';

/** `arguments`: the tool's own, with the values of preset secrets. */
type AskedCall = { tool: EditionTool; server: ServerAccess | null; scope: CallScope; arguments: Record<string, unknown> };

/** `send`: runs the tool. Errors are not stored, nor results of a tool whose annotations do not apply any more. */
export async function throughStored(
  { clock }: Pick<CallDeps, 'clock'>,
  results: StoredResults,
  asked: AskedCall,
  send: () => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  const { tool, scope } = asked;
  const { cache } = tool;
  if (cache === undefined || scope.edition === null || !onlyReads(tool)) return await send();
  const { toolset } = scope.edition;
  const hash = await hashOf(asked, scope.edition);
  const now = clock.now();
  const found = await results.get(toolset, hash);
  const cachedSeconds = found === null ? cache.ttl : Math.max(0, Math.floor((now - found.at) / 1000));
  if (found !== null && cachedSeconds < cache.ttl) return { ...found.result, served: { tool: tool.canonical, cachedSeconds } };
  const outcome = await send();
  const { isError, content, structuredContent, meta, input, suspended, failed } = outcome;
  if (isError || input !== undefined || suspended === true || failed !== undefined) return outcome;
  const result = { isError, content, ...(structuredContent !== undefined && { structuredContent }), ...(meta && { meta }) };
  results.put(toolset, hash, { at: now, keyId: ownerOf(scope), result }, cache.ttl);
  return outcome;
}

/** Any change of the toolset, the definition or the server's document starts anew. Where each user has an account at the server, results are those of the caller. */
async function hashOf(
  { tool, server, scope, arguments: args }: AskedCall,
  { version, revision }: NonNullable<CallScope['edition']>,
): Promise<string> {
  const isShared = tool.cache?.per === 'workspace' && server?.mcp?.oauth?.per !== 'user';
  const owner = isShared ? null : ownerOf(scope);
  const of = [owner, tool.canonical, tool.wireName, tool.pin, version, revision, server?.version ?? null, args];
  return await sha256Hex(canonicalJson(of));
}

function ownerOf({ caller, keyId }: CallScope): string {
  return caller?.key ?? keyId;
}
