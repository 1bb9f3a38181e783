/**
 * Prompts of MCP servers in chat sessions: those that the toolset of the session offers, and one of them as the input of a turn. The request to
 * the server is a direct call of the session, for a tool that stands for it (`request-offer.ts`): what requires approval is stored as such a call's.
 */
import { listOf, recordOf } from '../../core/json/wire-value.ts';
import { type InputPart, InputPart as InputPartSchema, mediaOf } from '../../core/model/message.ts';
import type { Principal } from '../../core/people/principal.ts';
import { invalidRequest, Problem, quoted } from '../../core/problem.ts';
import { fromCallResult } from '../../core/tools/offer-result.ts';
import { forModel, modelContent } from '../../core/tools/model-result.ts';
import { ContentBlock, contentText } from '../../core/tools/tool.ts';
import type { Plan } from '../../core/turn/plan.ts';
import { readTurnNames } from '../plan/plan-names.ts';
import type { Directory } from '../../ports/directory.ts';
import type { SessionCall, SessionCallRequest, SessionPrompt, TurnPrompt } from '../../ports/session.ts';
import { offerProblem, offerTool } from './request-offer.ts';
import { readServedOffers } from './read-offers.ts';
import { findPrompt, type ServedOffers } from './serve-offers.ts';

/** A session and the plan of its next turn. */
export type PromptSession = { principal: Principal; plan: Plan };

/** `call`: makes a direct call with the session. */
export type CallingSession = PromptSession & { call(request: SessionCallRequest): Promise<SessionCall> };

export type SessionPrompts = {
  list(session: PromptSession): Promise<SessionPrompt[]>;
  /**
   * Returns the input of a turn. Throws `not_found`, `invalid_request` for missing arguments, and the problem of a request that was refused or
   * has failed; the problem of one that requires approval has what it waits for as `pending`, after which the same prompt is sent again.
   */
  expand(session: CallingSession, prompt: TurnPrompt): Promise<InputPart[]>;
};

type PromptDeps = { directory: Directory };

export async function listPrompts(deps: PromptDeps, session: PromptSession): Promise<SessionPrompt[]> {
  const { prompts } = (await readOffered(deps, session)) ?? noOffered;
  return [...prompts].map(([name, { server, shown }]) => toSessionPrompt(name, server, shown));
}

function toSessionPrompt(name: string, server: string, listed: Record<string, unknown>): SessionPrompt {
  const { title, description, arguments: args } = listed;
  return {
    name,
    ...(typeof title === 'string' && { title }),
    ...(typeof description === 'string' && { description }),
    server,
    arguments: listOf(args)
      .map(recordOf)
      .map((one) => ({
        name: String(one.name),
        ...(typeof one.description === 'string' && { description: one.description }),
        required: one.required === true,
      })),
  };
}

export async function expandPrompt(deps: PromptDeps, session: CallingSession, { name, arguments: args }: TurnPrompt): Promise<InputPart[]> {
  const { principal, plan } = session;
  const found = findPrompt((await readOffered(deps, session)) ?? noOffered, name);
  if (found === null)
    throw new Problem(
      'not_found',
      `The toolset of this session offers no prompt ${quoted(name)}. GET /v1/sessions/{id}/prompts lists them.`,
    );
  requireArguments(toSessionPrompt(name, found.server, found.shown), args);
  const { trusted } = await deps.directory.server(principal.workspace, found.server);
  const params = { name: found.own, ...(args && { arguments: args }) };
  const offer = offerTool({ method: 'prompts/get', kind: 'prompt', found, shown: name, params }, trusted);
  const { result, pending } = await session.call({ plan, name, arguments: params, offer });
  if (result.isError) throw offerProblem(result, pending);
  const { messages } = fromCallResult('prompts/get', result, name);
  const input = listOf(messages).flatMap((message) => toInput(recordOf(message)));
  if (input.length === 0) throw new Problem('upstream_error', `The server returned no messages for the prompt ${quoted(name)}.`);
  return input;
}

const noOffered = { prompts: new Map<never, never>(), promptAliases: new Map<never, never>() };

function requireArguments({ arguments: known }: SessionPrompt, given: TurnPrompt['arguments'] = {}): void {
  const missing = known.filter(({ name, required }) => required && !Object.hasOwn(given, name));
  if (missing.length > 0)
    throw invalidRequest(missing.map(({ name }) => ({ path: `prompt.arguments.${name}`, message: 'is required by the prompt' })));
}

/** Returns null for a session without a toolset. */
async function readOffered(deps: PromptDeps, { principal, plan }: PromptSession): Promise<ServedOffers | null> {
  const names = await readTurnNames(deps.directory, principal.workspace, plan, principal.keyId);
  if (names === null || plan.edition === undefined) return null;
  // An agent that lists tools offers the prompts of their servers only.
  return await readServedOffers(deps, principal.workspace, { names, pointer: plan.edition, mode: null, isNarrowed: plan.allow != null });
}

/** Returns a message as parts of the input, which a user writes: one with another role says so. Models read texts without hidden characters. */
function toInput({ role, content }: Record<string, unknown>): InputPart[] {
  const read = ContentBlock.safeParse(content);
  const unknown = { type: 'text' as const, text: `[Left out: content of the type ${String(recordOf(content).type)} is not supported.]` };
  const blocks = modelContent(forModel({ isError: false, content: [read.success ? read.data : unknown] }));
  return blocks.flatMap((block) => {
    const media = InputPartSchema.safeParse(mediaOf(block));
    const part: InputPart = media.success ? media.data : { type: 'text', text: contentText([block]) };
    if (role === 'user') return [part];
    const label = `[A message of the prompt with the role ${String(role)}:]`;
    return part.type === 'text' ? [{ type: 'text', text: `${label}\n${part.text}` }] : [{ type: 'text', text: label }, part];
  });
}
