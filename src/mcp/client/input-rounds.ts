/**
 * Requests of 2026-07-28 that need input (`input_required`). Input that we know is added and the request repeated; other input requests are
 * returned to the caller, who repeats the request with the answers. Nothing is stored in between: our own answers and the waiting task
 * travel in the state, which is opaque to callers.
 */
import { limits } from '../../core/limits/limits.ts';
import {
  type AskableInput,
  type GivenInput,
  type InputAnswer,
  type InputRequest,
  type InputRequired,
  canElicit,
} from '../../core/tools/mcp-input.ts';
import { Problem } from '../../core/problem.ts';
import type { ProtocolFault } from '../../core/tools/tool.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import { isRecord, recordOf, tryParse } from '../../core/json/wire-value.ts';
import { permanentError, upstreamError } from './upstream-fault.ts';
import { KB } from '../../core/limits/units.ts';
import { declined, screenElicitation } from '../../core/servers/elicitation.ts';

const maxInputStateLength = 64 * KB;

/** `error`: the JSON-RPC error that the result describes. */
export type RoundOutcome =
  | { kind: 'result'; result: Record<string, unknown>; error?: ProtocolFault }
  | { kind: 'input-required'; input: InputRequired };

/** Added to the parameters when the request is repeated. */
export type RetryParams = { inputResponses?: Record<string, InputAnswer>; requestState?: string };

type Asking = Pick<ServerAccess, 'name' | 'mcp'>;

export async function answerInputRounds(
  server: Asking,
  askable: AskableInput,
  given: GivenInput | undefined,
  send: (retry: RetryParams) => Promise<Record<string, unknown>>,
): Promise<RoundOutcome> {
  let retry = given === undefined ? {} : toRetry(given);
  for (let round = 0; round < limits.maxInputRounds; round += 1) {
    const result = await send(retry);
    if (result.resultType !== 'input_required') return { kind: 'result', result };
    const state = typeof result.requestState === 'string' ? result.requestState : undefined;
    const { own, others } = screenInputRequests(server, askable, result.inputRequests);
    if (Object.keys(others).length > 0) return { kind: 'input-required', input: toInputRequest(others, { state, own }) };
    retry = { ...(Object.keys(own).length > 0 && { inputResponses: own }), ...(state !== undefined && { requestState: state }) };
  }
  throw permanentError(server.name, `requested input in ${limits.maxInputRounds} rounds without a result.`);
}

/** `own`: answers that are known here. Throws if the server requests input that it may not have. */
export function screenInputRequests(
  server: Asking,
  askable: AskableInput,
  asked: unknown,
): { own: Record<string, InputAnswer>; others: Record<string, InputRequest> } {
  const own: [string, InputAnswer][] = [];
  const others: [string, InputRequest][] = [];
  const questions = Object.entries(recordOf(asked));
  if (questions.length > limits.maxInputRequests)
    throw permanentError(server.name, `sent more than ${limits.maxInputRequests} input requests at once.`);
  for (const [key, written] of questions) {
    const { method, params } = recordOf(written);
    const question = screenQuestion(server, { method: String(method), params: recordOf(params) }, askable);
    if (question.kind === 'refused') throw upstreamError(server.name, `requested input that is not allowed. ${question.reason}`);
    if (question.kind === 'answer') own.push([key, question.answer]);
    else others.push([key, question.request]);
  }
  return { own: Object.fromEntries(own), others: Object.fromEntries(others) };
}

/** A page that the user was asked to open (`pages.ts`). `id`: its `elicitationId`. */
export type OpenedPage = { host: string; id?: string };

type Carried = { state?: string; own: Record<string, InputAnswer>; task?: string; pages?: readonly OpenedPage[] };

/** The server's own state unchanged, if nothing else must be carried. */
export function toInputRequest(requests: Record<string, InputRequest>, carried: Carried): InputRequired {
  const { state, own, task, pages } = carried;
  if ((state?.length ?? 0) > maxInputStateLength) {
    throw new Problem('upstream_error', `The server's request state is longer than ${maxInputStateLength} characters, which is the limit.`);
  }
  const isPlain = Object.keys(own).length === 0 && task === undefined && pages === undefined && state?.startsWith(mark) !== true;
  const written = isPlain ? state : `${mark}${JSON.stringify({ state, own, task, pages })}`;
  return { requests, ...(written !== undefined && { state: written }) };
}

/** Reads the state that `toInput` wrote. */
export function readRequestState(state: string | undefined): Carried {
  if (state?.startsWith(mark) !== true) return { own: {}, ...(state !== undefined && { state }) };
  const read = recordOf(tryParse(state.slice(mark.length)));
  const own = Object.entries(recordOf(read.own)).filter((entry): entry is [string, InputAnswer] => isRecord(entry[1]));
  return {
    own: Object.fromEntries(own),
    ...(typeof read.state === 'string' && { state: read.state }),
    ...(typeof read.task === 'string' && { task: read.task }),
    ...(Array.isArray(read.pages) && { pages: read.pages.slice(0, limits.maxInputRequests).filter(isPage) }),
  };
}

function isPage(value: unknown): value is OpenedPage {
  return isRecord(value) && typeof value.host === 'string' && (value.id === undefined || typeof value.id === 'string');
}

const mark = 'moniker:';

function toRetry({ responses, state }: GivenInput): RetryParams {
  const carried = readRequestState(state);
  return { inputResponses: { ...carried.own, ...responses }, ...(carried.state !== undefined && { requestState: carried.state }) };
}

/**
 * Decides on an input request of a server, in either era: answered from the server's document, passed to the client after a check, or
 * rejected.
 */
type ServerInputRequest =
  | { kind: 'ask'; request: InputRequest }
  /** Known here, so that no user is asked. */
  | { kind: 'answer'; answer: InputAnswer }
  | { kind: 'refused'; reason: string };

export function screenQuestion(server: Asking, request: InputRequest, askable: AskableInput): ServerInputRequest {
  switch (request.method) {
    case 'roots/list': {
      const roots = server.mcp?.roots ?? [];
      // Those of the client name folders of the user's machine, and some servers give access to whatever they name.
      if (roots === 'client' && askable.roots !== undefined) return { kind: 'ask', request: { method: request.method, params: {} } };
      return roots === 'client' || roots.length === 0
        ? { kind: 'refused', reason: 'No roots are configured.' }
        : { kind: 'answer', answer: { roots } };
    }
    case 'elicitation/create':
      return screenElicitationQuestion(server.name, request, askable);
    case 'sampling/createMessage': {
      if (server.mcp?.sampling !== true || askable.sampling === undefined) {
        return { kind: 'refused', reason: 'Sampling is not enabled for this server.' };
      }
      // Context of other servers is included only by a client that declares so (`sampling.context`, 2025-11-25), and then decides which.
      const { includeContext: _context, ...others } = request.params;
      const params = recordOf(askable.sampling).context === undefined ? others : request.params;
      return { kind: 'ask', request: { method: request.method, params } };
    }
    default:
      return { kind: 'refused', reason: 'Method not found' };
  }
}

function screenElicitationQuestion(server: string, request: InputRequest, askable: AskableInput): ServerInputRequest {
  const isUrl = request.params.mode === 'url';
  if (!canElicit(askable, isUrl ? 'url' : 'form'))
    return { kind: 'refused', reason: `No user is available to ${isUrl ? 'open a URL' : 'answer'}.` };
  const screened = screenElicitation(server, request);
  return screened.ok ? { kind: 'ask', request: screened.request } : { kind: 'answer', answer: declined };
}
