/**
 * Returns what a conversation has seen if its client supplied the history (`core/policy/taint.ts`). The client may have omitted anything, so only
 * recognized messages count as known: responses of this service by their stored marks, and calls of known tools by the marks such a tool
 * makes. Everything else gets both labels. System and user texts are the caller's own.
 */
import { resolveName, type AliasMap } from '../../core/toolset/alias-map.ts';
import { namesOfHistory } from '../../core/policy/answer-name.ts';
import { callsTools } from '../../core/toolset/composite-tool.ts';
import type { EditionTool } from '../../core/toolset/edition-tool.ts';
import { secretArguments } from '../../core/toolset/arguments/entry-arguments.ts';
import type { Message } from '../../core/model/message.ts';
import { isTainted, joinTaint, originOfServer, type Taint, unknownTaint, untainted } from '../../core/policy/taint.ts';
import { withServerState, isServerTool } from '../call/server-state.ts';
import type { CallDeps } from '../call/call-scope.ts';
import { hasCredentials } from './mark-taint.ts';

/** Assistant messages of one history that are looked up; a longer history counts as unknown. */
const maxRecalledAnswers = 2_000;

export type HistoryDeps = Pick<CallDeps, 'server' | 'log'> & {
  /** Returns the marks of responses by their names; null for an unknown one. */
  storedMarks(names: readonly string[]): Promise<readonly (Taint | null)[]>;
  /** Returns the names that the plan offers; null: none. */
  names(): Promise<AliasMap | null>;
};

/** Never throws: if a lookup fails, the history counts as unknown. */
export async function judgeHistory(deps: HistoryDeps, keyId: string, history: readonly Message[]): Promise<Taint> {
  try {
    const said = await taintOfAnswers(deps, keyId, history);
    return isTainted(said) ? said : joinTaint(said, await taintOfCalls(deps, history));
  } catch (error) {
    deps.log.error('a history could not be judged; it counts as unknown', { cause: String(error) });
    return unknownTaint('the history that the client sent, which could not be judged');
  }
}

/** An unrecognized response may contain anything, since calls of server tools do not appear in the history. */
async function taintOfAnswers({ storedMarks }: HistoryDeps, keyId: string, history: readonly Message[]): Promise<Taint> {
  const names = await namesOfHistory(keyId, history);
  if (names === null || names.length > maxRecalledAnswers) return unknownAnswer;
  if (names.length === 0) return untainted;
  return (await storedMarks(names)).reduce<Taint>((taint, recalled) => joinTaint(taint, recalled ?? unknownAnswer), untainted);
}

const unknownAnswer = unknownTaint('an assistant message in the history that the client sent, which this service did not produce');

async function taintOfCalls(deps: HistoryDeps, history: readonly Message[]): Promise<Taint> {
  const called = new Set(
    history.flatMap((message) =>
      message.role === 'assistant' || message.role === 'tool'
        ? message.parts.flatMap((part) => ('requested' in part ? [part.requested] : []))
        : [],
    ),
  );
  if (called.size === 0) return untainted;
  const names = await deps.names();
  let taint = untainted;
  for (const name of called) {
    if (isTainted(taint)) break;
    const resolution = names === null ? null : resolveName(names, name);
    const brought = resolution?.ok === true ? await taintOfTool(deps, resolution.tool) : null;
    taint = joinTaint(taint, brought ?? unknownTaint(`a result of ${name} in the history that the client sent`));
  }
  return taint;
}

/**
 * Returns the marks that `mark-taint.ts` gives a call of the tool; null if unknown. A tool that makes no mark is unknown too: only its name
 * says that the result is its own.
 */
async function taintOfTool(deps: HistoryDeps, tool: EditionTool): Promise<Taint | null> {
  const source = `a result of ${tool.canonical} in the history that the client sent`;
  const hasSecret = secretArguments(tool.arguments).size > 0;
  if (callsTools(tool)) return null;
  if (tool.canonical === 'builtin.read_file') return { private: source, untrusted: null };
  if (tool.canonical === 'builtin.http_request') return { private: hasSecret ? source : null, untrusted: source };
  if (!isServerTool(tool)) return null;
  const served = await withServerState(deps, tool);
  if (!served.ok || served.server === null) return null;
  const { server } = served;
  const isPrivate = hasSecret || hasCredentials(server);
  const isUntrusted = served.tool.trusted !== true;
  if (!isPrivate && !isUntrusted) return null;
  return {
    private: isPrivate ? source : null,
    untrusted: isUntrusted ? source : null,
    ...(isPrivate && { origin: originOfServer(server.name) }),
  };
}
