/**
 * The routing fields of a chat request of any dialect: agent or model, toolset, session. Only these are checked, since a request may be
 * passed on unchanged. The dialect parses the rest.
 */
import { invalidRequest, Problem, quoted } from '../../core/problem.ts';
import { readCompletionId } from '../../core/reference.ts';
import { isRecord } from '../../core/json/wire-value.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import type { AppContext } from '../middleware/request-context.ts';

/** A passed-on request is checked only for its routing fields: the provider validates the rest. */
export type ChatBody = Record<string, unknown> & { model: string };

/**
 * `session`: from the header, including `new`. `previousCalls`: the session identified by ids in the request: of tool calls, or of the completion
 * that it continues.
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
 * Throws `invalid_request` if body and header name different toolsets, or header and calls different sessions, and `model_not_found` for an
 * invalid model reference.
 */
export function readRoute(c: AppContext, dialect: Dialect, body: ChatBody): ChatRoute {
  const inBody = body.toolset ?? undefined;
  if (inBody !== undefined && typeof inBody !== 'string')
    throw invalidRequest([{ path: 'toolset', message: 'must be the name of a toolset' }]);
  const inHeader = c.req.header('x-moniker-toolset');
  if (inBody !== undefined && inHeader !== undefined && inBody !== inHeader) {
    throw invalidRequest([{ path: 'toolset', message: 'differs from the header x-moniker-toolset: send only one of them' }]);
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

/** Returns true if the request needs no session: the provider's response is returned. */
export function isPlain({ agent, toolset, session, previousCalls }: ChatRoute): boolean {
  return agent === undefined && toolset === undefined && session === undefined && previousCalls === null;
}

export function withoutToolset({ toolset: _toolset, ...body }: ChatBody): ChatBody {
  // The rest of a record without one key still has `model`, which the compiler cannot infer.
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
      `Unknown model ${quoted(ref)}: it must be agent/<name> or <provider>/<model>. GET /v1/models lists them.`,
      { param: 'model' },
    );
  }
  return ref.startsWith('agent/') ? { agent: ref.slice(slash + 1) } : { model: ref };
}
