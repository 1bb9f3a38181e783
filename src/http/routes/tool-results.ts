/** `/v1/sessions/{id}/tool-results`: what the caller's own tools answered, and a person the servers of others; the turn that waited for them goes on. */
import { z } from 'zod';
import { Pending } from '../../core/policy/approval.ts';
import { ElicitationAnswer } from '../../core/tools/elicitation.ts';
import { limits } from '../../core/limits.ts';
import { ContentBlock } from '../../core/tools/tool.ts';
import type { ClientResult } from '../../core/turn/message.ts';
import { mountRoute } from '../route.ts';
import type { App } from '../route.ts';
import { sessionParams } from './sessions.ts';

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
      description: 'Answers to all that the server of a tool asks, by the keys of `requests` in `pending`.',
    }),
    round: z.int().min(1).optional().meta({
      description: 'Of the question that is answered, so that none is taken for the next one when it is sent again. Absent: the last.',
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
    status: z.string().meta({ description: '`running`, or `waiting` while others are missing.' }),
    pending: z.array(Pending).meta({ description: 'What it still waits for.' }),
  })
  .meta({ id: 'ResultsTaken', example: { turn: 'turn_1', status: 'running', pending: [] } });

export function mountToolResults(app: App): void {
  mountRoute(
    app,
    {
      tag: 'Sessions',
      method: 'post',
      path: '/v1/sessions/{id}/tool-results',
      operationId: 'sendToolResults',
      summary: 'Answer calls of your own tools, or what a tool asks',
      description:
        'A call that waits for `input` is answered with a person’s `input`, and then made again with it; declined is an answer, too. A call of your own tool is answered with its result: one result, or several under `results`. The turn goes on by itself when the last one is there: follow `…/events`. The same result twice is one.',
      scopes: ['chat'],
      params: sessionParams,
      body: { schema: ToolResultsRequest, maxBytes: limits.maxLargeBodyBytes },
      answers: { 200: { description: 'Stored.', schema: ResultsTaken } },
      problems: ['conflict'],
    },
    async ({ c, services, principal, params, body }) => {
      const session = services.sessions.get(params.id);
      if ('input' in body) {
        const { callId, input, round } = body;
        return c.json(await session.submitInput(principal, { callId, input, ...(round !== undefined && { round }) }));
      }
      const results = 'results' in body ? body.results : [body];
      return c.json(await session.submitResults(principal, results.map(toResult)));
    },
  );
}

function toResult({ callId, content, isError }: z.infer<typeof ToolResultRequest>): ClientResult {
  return { callId, content: typeof content === 'string' ? [{ type: 'text', text: content }] : content, isError };
}
