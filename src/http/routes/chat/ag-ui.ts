/** `POST /agui/{agent}`: an agent for clients of AG-UI (`chat.ts`). */
import * as z from 'zod';
import { limits } from '../../../core/limits/limits.ts';
import { recordOf } from '../../../core/json/wire-value.ts';
import { Problem } from '../../../core/problem.ts';
import { ResourceName } from '../../../core/turn/agent.ts';
import { agUi, failedRun } from '../../../dialects/ag-ui/dialect.ts';
import { RunAgentInput } from '../../../dialects/ag-ui/request.ts';
import { encodeFrame } from '../../../dialects/native.ts';
import { eventStreamHeaders } from '../../event-stream.ts';
import { defineRoute } from '../../route.ts';
import { answerChat, chatAnswer, chatHeaders, chatProblems } from './chat.ts';

const AgUiEvent = z.looseObject({ type: z.string() }).meta({ id: 'AgUiEvent' });

const {
  schema: _schema,
  also: _also,
  ...answer
} = chatAnswer({
  what: 'run',
  frame: 'event',
  schema: AgUiEvent,
  events: AgUiEvent,
  forks: 'the messages differ from those of the session',
  uses: 'logs; the stream cannot be resumed, and the turn continues without its reader',
});

export const agUiRoutes = [
  defineRoute(
    {
      method: 'post',
      path: '/agui/{agent}',
      operationId: 'runAgUi',
      tag: 'User interfaces',
      scopes: ['chat'],
      summary: 'Run an agent (AG-UI)',
      description:
        'For `HttpAgent` of AG-UI 1.0: text, reasoning, calls of server tools with their results, and calls of the client’s own `tools`. A call that requires approval ends the run with an interrupt, which `resume` of the next run answers with `{"approved": true}` or `{"approved": false}` (`cancelled` denies), with the scope `approve`. An answer that is invalid, too late, or other than the decision that was made elsewhere is `RUN_ERROR`; other errors before the stream are problems. The session is found by the ids of interrupts and messages. `state` and `forwardedProps` are not sent to models.',
      params: z.object({ agent: ResourceName.meta({ description: 'Name of the agent.' }) }),
      query: 'ignored',
      headers: chatHeaders({ parts: 'Messages', leads: 'the ids of interrupts and messages' }),
      body: { documented: RunAgentInput, maxBytes: limits.maxLargeBodyBytes },
      answers: { 200: { ...answer, contentType: 'text/event-stream' } },
      problems: chatProblems,
    },
    async (request) => {
      const given = recordOf(request.body);
      const body = { ...given, model: `agent/${request.params.agent}`, stream: true };
      try {
        return await answerChat(agUi, { ...request, body });
      } catch (error) {
        const isOfResume = error instanceof Problem && (error.status === 409 || error.status === 422) && hasItems(given.resume);
        if (!isOfResume) throw error;
        const run = { threadId: String(given.threadId), runId: String(given.runId) };
        return new Response(failedRun(run, error.toBody()).map(encodeFrame).join(''), { headers: eventStreamHeaders });
      }
    },
  ),
];

function hasItems(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}
