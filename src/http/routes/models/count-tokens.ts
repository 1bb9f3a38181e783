/**
 * `/v1/messages/count_tokens`: the provider's own count if it has one, otherwise an estimate that is marked as such. Clients use it to
 * check whether a conversation still fits.
 */
import { CountTokensRequest, estimateMessagesTokens } from '../../../dialects/anthropic/request.ts';
import * as z from 'zod';
import { requireAllowed } from '../../../core/people/authority.ts';
import { limits } from '../../../core/limits/limits.ts';
import { anthropicMessages } from '../../../dialects/anthropic/dialect.ts';
import { type RouteRequest, defineRoute } from '../../route.ts';
import { routingHeaders } from '../chat/chat.ts';
import type { HttpServices } from '../../services.ts';
import { type ChatBody, readRoute, requireModel, resolveModel, withoutToolset } from '../../../engine/chat/incoming-chat.ts';
import type { ProxiedChat } from '../../../engine/proxy/translate-chat.ts';
import type { Principal } from '../../../core/people/principal.ts';
import type { AppContext } from '../../middleware/request-context.ts';

const TokenCount = z
  .looseObject({
    input_tokens: z.int(),
    estimated: z
      .literal(true)
      .optional()
      .meta({ description: 'An extension of Anthropic’s API: true if counted by characters, without server tools.' }),
  })
  .meta({ id: 'TokenCount', example: { input_tokens: 14, estimated: true } });

export const countTokenRoutes = [
  defineRoute(
    {
      method: 'post',
      path: '/v1/messages/count_tokens',
      storesNothing: true,
      operationId: 'countMessageTokens',
      tag: 'Anthropic',
      scopes: ['chat'],
      summary: 'Count the tokens of a request',
      description:
        'Returns the provider’s count if the request names a model of a provider of kind `anthropic`, or Claude on Bedrock or Vertex AI; otherwise an estimate, marked `estimated`. Runs no model.',
      query: 'ignored',
      body: { documented: CountTokensRequest, maxBytes: limits.maxLargeBodyBytes },
      answers: { 200: { description: 'The count.', schema: TokenCount, contentType: 'application/json' } },
      problems: ['model_not_found', 'not_found', 'upstream_error', 'upstream_timeout', 'rate_limited', 'loop_detected'],
    },
    async (request) => {
      const headers = anthropicHeaders(request.c);
      const counted = await countOrEstimate(request, { dialect: anthropicMessages, headers, estimate: estimateMessagesTokens });
      return counted instanceof Response ? counted : request.answer(200, { input_tokens: counted, estimated: true });
    },
  ),
];

type Asked = Pick<RouteRequest, 'c' | 'services' | 'principal' | 'body'> & { text: string | undefined };
type Counting = Pick<ProxiedChat, 'dialect' | 'headers'> & {
  /** Throws `invalid_request`. */
  estimate(body: ChatBody, instructions: string): number;
  /** The provider cannot count this request. */
  isEstimated?: boolean;
};

/** Returns the provider's response if it can count, and otherwise an estimate. */
export async function countOrEstimate(
  { c, services, principal, text, body: value }: Asked,
  { dialect, headers, estimate, isEstimated = false }: Counting,
): Promise<Response | number> {
  const body = requireModel(value);
  const ref = await resolveModel(services, principal, body.model);
  const { agent } = readRoute({ dialect, body, ...routingHeaders(c) }, ref);
  if (agent !== undefined) return estimate(body, await instructionsOf(services, principal, agent));
  requireAllowed(principal, { act: 'use-model' });
  const sent = { ref, dialect, body: withoutToolset(body), text, headers };
  return (isEstimated ? null : await services.countTokens(principal, sent)) ?? estimate(body, '');
}

async function instructionsOf(services: HttpServices, principal: Principal, agent: string): Promise<string> {
  return (await services.planTurn(principal, { agent, settings: {} })).instructions;
}

/** Headers that control how the provider reads the request; not the key, which is Moniker's. */
export function anthropicHeaders(c: AppContext): Record<string, string> {
  const version = c.req.header('anthropic-version');
  const beta = c.req.header('anthropic-beta');
  return { ...(version !== undefined && { 'anthropic-version': version }), ...(beta !== undefined && { 'anthropic-beta': beta }) };
}
