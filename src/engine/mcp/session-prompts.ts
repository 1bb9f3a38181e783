/**
 * Prompts of MCP servers in chat sessions: those that the toolset of the session offers, and one of them as the input of a turn. The request to
 * the server takes the steps of a call (`request-offer.ts`). A turn has not begun, so nothing can be asked: what requires approval is refused.
 */
import { listOf, recordOf } from '../../core/json/wire-value.ts';
import { type InputPart, InputPart as InputPartSchema, mediaOf } from '../../core/model/message.ts';
import type { Principal } from '../../core/people/principal.ts';
import { joinTaint, type Taint, untainted } from '../../core/policy/taint.ts';
import { invalidRequest, Problem, quoted } from '../../core/problem.ts';
import { forModel, modelContent } from '../../core/tools/model-result.ts';
import { ContentBlock, contentText } from '../../core/tools/tool.ts';
import type { Plan } from '../../core/turn/plan.ts';
import { readTurnNames } from '../plan/plan-names.ts';
import type { MarkStore } from '../policy/direct-marks.ts';
import type { SessionPrompt, TurnPrompt } from '../../ports/session.ts';
import { readServedOffers } from './read-offers.ts';
import { findPrompt, type ServedOffers } from './serve-offers.ts';
import { getPrompt, type OfferDeps } from './serve-resources.ts';
import type { ServedView } from './serve-view.ts';

/** A session and the plan of its next turn. `conversation`: the session's id. `seen`: the taint marks of the session. */
export type PromptSession = { principal: Principal; plan: Plan; conversation: string; seen(): Promise<Taint> };

/** The input of a turn, and the marks of what it contains; `taint` is absent if there are none. */
export type ExpandedPrompt = { input: InputPart[]; taint?: Taint };

export type SessionPrompts = {
  list(session: PromptSession): Promise<SessionPrompt[]>;
  /** Throws `not_found`, `invalid_request` for missing arguments, and the problem of a request that was refused or has failed. */
  expand(session: PromptSession, prompt: TurnPrompt): Promise<ExpandedPrompt>;
};

export async function listPrompts(deps: OfferDeps, session: PromptSession): Promise<SessionPrompt[]> {
  const served = await readOffered(deps, session);
  return served === null ? [] : [...served.offers.prompts].map(([name, { server, shown }]) => toSessionPrompt(name, server, shown));
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

export async function expandPrompt(deps: OfferDeps, session: PromptSession, prompt: TurnPrompt): Promise<ExpandedPrompt> {
  const { principal, conversation } = session;
  const served = await readOffered(deps, session);
  const found = served === null ? null : findPrompt(served.offers, prompt.name);
  if (served === null || found === null)
    throw new Problem(
      'not_found',
      `The toolset of this session offers no prompt ${quoted(prompt.name)}. GET /v1/sessions/{id}/prompts lists them.`,
    );
  requireArguments(toSessionPrompt(prompt.name, found.server, found.shown), prompt);
  const marks = collectMarks(session);
  const caller = {
    ...{ principal, target: session.plan.edition?.toolset ?? null, view: served.view, conversation, channel: {}, askable: {} },
    ...{ marks: marks.store, links: noLinks },
  };
  const answer = await getPrompt(deps, caller, prompt, {}, new AbortController().signal);
  if (answer.kind === 'input') throw new Error('a request that cannot ask asks');
  const input = listOf(answer.result.messages).flatMap((message) => toInput(recordOf(message)));
  if (input.length === 0) throw new Problem('upstream_error', `The server returned no messages for the prompt ${quoted(prompt.name)}.`);
  const taint = marks.added();
  return { input, ...(taint !== untainted && { taint }) };
}

function requireArguments({ arguments: known }: SessionPrompt, { arguments: given = {} }: TurnPrompt): void {
  const missing = known.filter(({ name, required }) => required && !Object.hasOwn(given, name));
  if (missing.length > 0)
    throw invalidRequest(missing.map(({ name }) => ({ path: `prompt.arguments.${name}`, message: 'is required by the prompt' })));
}

/** Returns null for a session without a toolset. */
async function readOffered(
  deps: OfferDeps,
  { principal, plan }: PromptSession,
): Promise<{ view: ServedView; offers: ServedOffers } | null> {
  const names = await readTurnNames(deps.directory, principal.workspace, plan, principal.keyId);
  if (names === null || plan.edition === undefined) return null;
  // An agent that lists tools offers the prompts of their servers only.
  const view: ServedView = { names, pointer: plan.edition, mode: null, isNarrowed: plan.allow != null };
  return { view, offers: await readServedOffers(deps, principal.workspace, view) };
}

/** The marks of the session, and those that the request adds: the session stores them with the turn. */
function collectMarks({ seen }: PromptSession): { store: MarkStore; added(): Taint } {
  let added = untainted;
  const store: MarkStore = {
    known: () => null,
    read: async () => ({ taint: await seen(), expiresAt: Number.MAX_SAFE_INTEGER }),
    add: async (taint) => {
      added = joinTaint(added, taint);
    },
  };
  return { store, added: () => added };
}

/** Nothing reads resources in a chat session. */
const noLinks = { find: async () => [], add: async () => undefined };

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
