/**
 * `/v1/sessions/{id}/tool-results`: results of the caller's own tools, and user input that servers requested; the waiting turn continues.
 */
import * as z from 'zod';
import { Pending } from '../../../core/policy/approval.ts';
import { ElicitationAnswer } from '../../../core/servers/elicitation.ts';
import { limits } from '../../../core/limits/limits.ts';
import { ContentBlock } from '../../../core/tools/tool.ts';
import type { ClientResult } from '../../../core/model/message.ts';
import { defineRoute } from '../../route.ts';
import { sessionParams } from '../sessions/sessions.ts';

/** Blocks of one result of a client tool; the size of the body limits their content. */
const maxClientResultBlocks = 1_000;

const ToolResultRequest = z
  .strictObject({
    callId: z.string().min(1).max(200),
    content: z.union([z.string(), z.array(ContentBlock).max(maxClientResultBlocks)], {
      error: 'must be a text, or a list of content blocks',
    }),
    isError: z.boolean().default(false),
  })
  .meta({ id: 'ToolResultRequest', example: { callId: 'call_1', content: '12 °C, rain' } });

const InputRequestAnswer = z
  .strictObject({
    callId: z.string().min(1).max(200),
    input: z.record(z.string(), ElicitationAnswer).meta({
      description: 'Answers to all input requests of a server, by the keys of `requests` in `pending`.',
    }),
    round: z.int().min(1).optional().meta({
      description: 'Round of the input request, so that a repeated answer is not used for the next request. Default: the latest.',
    }),
  })
  .meta({
    id: 'InputAnswers',
    example: { callId: 'call_1', input: { confirm: { action: 'accept', content: { name: 'Ada' } } }, round: 1 },
  });

const ToolResultsRequest = z.union([
  ToolResultRequest,
  InputRequestAnswer,
  z.strictObject({ results: z.array(ToolResultRequest).min(1).max(limits.maxCallsPerReply) }),
]);

const ResultsTaken = z
  .object({
    turn: z.string(),
    status: z.string().meta({ description: '`running`, or `waiting` while other results are missing.' }),
    pending: z.array(Pending).meta({ description: 'What the turn still waits for.' }),
  })
  .meta({ id: 'ResultsTaken', example: { turn: 'turn_1', status: 'running', pending: [] } });

export const toolResultRoutes = [
  defineRoute(
    {
      tag: 'Sessions',
      method: 'post',
      path: '/v1/sessions/{id}/tool-results',
      operationId: 'sendToolResults',
      summary: 'Submit results of your own tools, or input for a tool',
      description:
        'For a call that waits for `input`, send the user’s `input`; the call is then repeated with it. Declining is also an answer. For calls of your own tools, send one result, or several under `results`. The turn continues when the last one has arrived: follow `…/events`. Repeating a result has no effect.',
      scopes: ['chat'],
      params: sessionParams,
      body: { schema: ToolResultsRequest, maxBytes: limits.maxLargeBodyBytes },
      answers: { 200: { description: 'Stored.', schema: ResultsTaken } },
      problems: ['conflict'],
    },
    async ({ answer, services, principal, params, body }) => {
      const session = services.sessions.get(params.id);
      if ('input' in body) {
        const { callId, input, round } = body;
        return answer(200, await session.submitInput(principal, { callId, input, ...(round !== undefined && { round }) }));
      }
      const results = 'results' in body ? body.results : [body];
      return answer(200, await session.submitResults(principal, results.map(toResult)));
    },
  ),
];

function toResult({ callId, content, isError }: z.infer<typeof ToolResultRequest>): ClientResult {
  return { callId, content: typeof content === 'string' ? [{ type: 'text', text: content }] : content, isError };
}
