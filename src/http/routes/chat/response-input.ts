/** What clients of Responses do with the input of a response: count its tokens, and compact it. */
import * as z from 'zod';
import { limits } from '../../../core/limits/limits.ts';
import { droppedHeader, droppedHeaders } from '../../../core/model/dropped.ts';
import { targetHeader, targetHeaders } from '../../../core/model/route.ts';
import { openAiResponses } from '../../../dialects/openai-responses/dialect.ts';
import { InputItem } from '../../../dialects/openai-responses/input.ts';
import { charactersPerToken } from '../../../core/limits/units.ts';
import { messageCharacters } from '../../../core/turn/transcript.ts';
import { compactInput } from '../../../engine/chat/compact-input.ts';
import { requireModel } from '../../../engine/chat/incoming-chat.ts';
import { defineRoute } from '../../route.ts';
import { countOrEstimate } from '../models/count-tokens.ts';

const common = { method: 'post', tag: 'OpenAI', scopes: ['chat'], query: 'ignored' } as const;
const problems = ['model_not_found', 'not_found', 'upstream_error', 'upstream_timeout', 'rate_limited', 'loop_detected'] as const;

const Input = z.union([z.string(), z.array(InputItem)]);

const CountRequest = z
  .looseObject({ model: z.string().min(1).max(300), input: Input, instructions: z.string().nullish() })
  .meta({ id: 'InputTokensRequest', example: { model: 'rehearsal/default', input: 'Hello' } });

const InputTokens = z
  .looseObject({
    object: z.literal('response.input_tokens'),
    input_tokens: z.int(),
    estimated: z
      .literal(true)
      .optional()
      .meta({ description: 'An extension of OpenAI’s API: true if counted by characters, without server tools.' }),
  })
  .meta({ id: 'InputTokens', example: { object: 'response.input_tokens', input_tokens: 14, estimated: true } });

const CompactRequest = z
  .looseObject({
    model: z.string().min(1).max(300),
    input: Input.nullish(),
    instructions: z.string().nullish(),
    previous_response_id: z.string().nullish().meta({ description: 'Of a session: its conversation up to there comes before the input.' }),
    prompt_cache_key: z.string().max(1000).nullish(),
  })
  .meta({ id: 'CompactRequest', example: { model: 'rehearsal/default', input: 'Hello' } });

const Compaction = z
  .looseObject({
    id: z.string(),
    object: z.literal('response.compaction'),
    created_at: z.int(),
    output: z.array(z.looseObject({ type: z.string() })).meta({ description: 'Messages of the user, and an item `compaction`.' }),
    usage: z.unknown(),
  })
  .meta({ id: 'Compaction' });

export const responseInputRoutes = [
  defineRoute(
    {
      ...common,
      path: '/v1/responses/input_tokens',
      operationId: 'countResponseInputTokens',
      summary: 'Count the tokens of a response’s input (OpenAI)',
      description:
        'Returns the count of a provider that has Responses, if the request names its model; otherwise an estimate, marked `estimated`. Runs no model.',
      body: { documented: CountRequest, maxBytes: limits.maxLargeBodyBytes },
      answers: { 200: { description: 'The count.', schema: InputTokens, contentType: 'application/json' } },
      problems,
    },
    async (request) => {
      const counted = await countOrEstimate(request, { dialect: openAiResponses, estimate });
      if (counted instanceof Response) return counted;
      return request.answer(200, { object: 'response.input_tokens', input_tokens: counted, estimated: true });
    },
  ),

  defineRoute(
    {
      ...common,
      path: '/v1/responses/compact',
      operationId: 'compactResponse',
      summary: 'Compact a conversation (OpenAI)',
      description:
        'Returns items to send in place of the conversation: the newest messages of the user, and an item `compaction`. A provider that has Responses compacts it itself; otherwise the model writes a summary, which models of all providers can read. An item of a provider can be read only by that provider.',
      body: { documented: CompactRequest, maxBytes: limits.maxLargeBodyBytes },
      answers: {
        200: {
          description: 'The compacted conversation.',
          schema: Compaction,
          contentType: 'application/json',
          headers: { [droppedHeader]: 'What of the request and its session is not in the summary. Absent: nothing.', ...targetHeaders },
        },
      },
      problems,
    },
    async ({ c, services, principal, body, answer }) => {
      const asked = { body: requireModel(body), requestId: c.get('requestId'), signal: () => c.req.raw.signal };
      const compacted = await compactInput(services, principal, asked);
      if (compacted instanceof Response) return compacted;
      const { document, dropped, target } = compacted;
      return answer(200, document, { ...droppedHeaders(dropped), ...(target !== null && { [targetHeader]: target }) });
    },
  ),
];

/** `instructions`: the text before the request's own. Throws `invalid_request`. */
function estimate(body: Readonly<Record<string, unknown>>, instructions: string): number {
  const { history } = openAiResponses.readRequest(body).conversation({ whole: true });
  const tools = body.tools == null ? 0 : JSON.stringify(body.tools).length;
  const characters = history.reduce((sum, message) => sum + messageCharacters(message), instructions.length + tools);
  return Math.ceil(characters / charactersPerToken);
}
