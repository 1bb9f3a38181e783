/**
 * What a chat request of any dialect says about where it goes: agent or model, toolset, session. Only the fields that route it are
 * looked at, since a request may be passed on as it is. The rest is read by its dialect.
 */
import { invalidRequest, Problem, quoted } from '../../core/problem.ts';
import { readCompletionId } from '../../core/reference.ts';
import { isRecord } from '../../core/json/wire-value.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import type { AppContext } from '../context.ts';

/** On the way through only the names that route it are looked at: the provider judges the rest. */
export type ChatBody = Record<string, unknown> & { model: string };

/**
 * `session`: as the header names it, `new` included. `ofCalls`: the session that ids in the request lead to: of tool calls, or of
 * the answer that it goes on from.
 */
export type ChatRoute = { agent?: string; model?: string; toolset?: string; session?: string; previousCalls: string | null };

export function requireModel(value: unknown): ChatBody {
  if (!isRecord(value)) throw invalidRequest([{ path: '', message: 'must be an object' }]);
  const { model } = value;
  if (typeof model !== 'string' || model === '')
    throw invalidRequest([{ path: 'model', message: 'must be agent/<name> or <provider>/<model>' }]);
  return value as ChatBody; // Checked just now.
}

/**
 * Throws `invalid_request` where body and header name two toolsets, or header and calls two sessions, and `model_not_found` for
 * a model that is no ref.
 */
export function readRoute(c: AppContext, dialect: Dialect, body: ChatBody): ChatRoute {
  const inBody = body.toolset ?? undefined;
  if (inBody !== undefined && typeof inBody !== 'string')
    throw invalidRequest([{ path: 'toolset', message: 'must be the name of a toolset' }]);
  const inHeader = c.req.header('x-moniker-toolset');
  if (inBody !== undefined && inHeader !== undefined && inBody !== inHeader) {
    throw invalidRequest([{ path: 'toolset', message: 'differs from the header x-moniker-toolset: give one' }]);
  }
  const session = c.req.header('x-moniker-session');
  const toolset = inBody ?? inHeader;
  return {
    ...modelOrAgent(body.model),
    ...(toolset !== undefined && { toolset }),
    ...(session !== undefined && { session }),
    previousCalls: sessionOfPrevious(dialect, body) ?? dialect.sessionOfCalls(body),
  };
}

/** True when nothing of it needs a session: the provider's own answer goes back. */
export function isPlain({ agent, toolset, session, previousCalls: ofCalls }: ChatRoute): boolean {
  return agent === undefined && toolset === undefined && session === undefined && ofCalls === null;
}

export function withoutToolset({ toolset: _toolset, ...body }: ChatBody): ChatBody {
  // The rest of a record without one key keeps `model`, which the compiler loses.
  return body as ChatBody;
}

function sessionOfPrevious(dialect: Dialect, { previous_response_id: previous }: ChatBody): string | null {
  return typeof previous === 'string' ? (readCompletionId(dialect.name, previous)?.session ?? null) : null;
}

function modelOrAgent(ref: string): Pick<ChatRoute, 'agent' | 'model'> {
  const slash = ref.indexOf('/');
  if (slash < 1 || slash === ref.length - 1) {
    throw new Problem(
      'model_not_found',
      `${quoted(ref)} is no model here: it must be agent/<name> or <provider>/<model>. GET /v1/models lists them.`,
      { param: 'model' },
    );
  }
  return ref.startsWith('agent/') ? { agent: ref.slice(slash + 1) } : { model: ref };
}
