/** `/v1/sessions/{id}/tool-results`: what the caller's own tools answered; the turn that waited for them goes on. */
import { z } from 'zod';
import { Pending } from '../../core/approval.ts';
import { limits } from '../../core/limits.ts';
import { ContentBlock } from '../../core/tool.ts';
import type { ClientResult } from '../../core/message.ts';
import { mount } from '../route.ts';
import type { App } from '../route.ts';
import { sessionParams } from './sessions.ts';

const ToolResultRequest = z
  .strictObject({
    callId: z.string().min(1).max(200),
    content: z.union([z.string(), z.array(ContentBlock).max(limits.maxClientResultBlocks)], {
      error: 'must be a text, or a list of content blocks',
    }),
    isError: z.boolean().default(false),
  })
  .meta({ id: 'ToolResultRequest', example: { callId: 'call_1', content: '12 °C, rain' } });

const ToolResultsRequest = z.union([
  ToolResultRequest,
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
  mount(
    app,
    {
      tag: 'Sessions',
      method: 'post',
      path: '/v1/sessions/{id}/tool-results',
      operationId: 'sendToolResults',
      summary: 'Answer calls of your own tools',
      description:
        'One result, or several under `results`. The turn goes on by itself when the last one is there: follow `…/events`. The same result twice is one.',
      scopes: ['chat'],
      params: sessionParams,
      body: { schema: ToolResultsRequest, maxBytes: limits.maxLargeBodyBytes },
      answers: { 200: { description: 'Stored.', schema: ResultsTaken } },
      problems: ['conflict'],
    },
    async ({ c, services, principal, params, body }) => {
      const results = 'results' in body ? body.results : [body];
      return c.json(await services.sessions.get(params.id).takeResults(principal, results.map(toResult)));
    },
  );
}

function toResult({ callId, content, isError }: z.infer<typeof ToolResultRequest>): ClientResult {
  return { callId, content: typeof content === 'string' ? [{ type: 'text', text: content }] : content, isError };
}
