import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { shareService } from './shared-service.ts';
import { aiSdkSurface, type Question, responsesSurface } from './approval-surfaces.ts';
import { approvalPath, decideByRest, describeApprovals, input } from './approval-table.ts';

const service = shareService();

describeApprovals(service, [
  ['Responses, from the last response', responsesSurface(service, 'previous', false)],
  ['Responses, streamed, with all items', responsesSurface(service, 'resent', true)],
  ['Responses, with the decision alone', responsesSurface(service, 'alone', false)],
  ['Responses, of the AI SDK', aiSdkSurface(service)],
]);

describe('a decision in Responses', () => {
  const clientOf = (key: string) => new OpenAI({ baseURL: `${service.url}/v1`, apiKey: key, maxRetries: 0 });
  const decisionOn = ({ id }: Question) => ({ type: 'mcp_approval_response' as const, approval_request_id: id, approve: true });
  const surface = responsesSurface(service, 'previous', false);

  it('that comes too late is named when the client also sends something else', async () => {
    const question = await surface.ask(input);
    await decideByRest(service, question, 'deny');
    const { data, response } = await clientOf(service.key)
      .responses.create({ model: 'agent/guarded', input: [decisionOn(question), { role: 'user', content: '/shell echo more' }] })
      .withResponse();
    expect(response.headers.get('x-moniker-dropped')).toBe('input[0].approval_request_id');
    expect(data.output_text).toMatch(/user denied (?:the|this) call/);
  });

  it('is refused for a key without the scope approve, and for an approval of another key', async () => {
    const { json } = await service.call('POST', '/v1/keys', { name: 'chatting', scopes: ['chat'] });
    const question = await surface.ask(input);
    const body = { model: 'agent/guarded', input: [decisionOn(question)] };
    await expect(clientOf(json.key).responses.create(body)).rejects.toMatchObject({ status: 403 });
    const { json: other } = await service.call('POST', '/v1/keys', { name: 'deciding', scopes: ['chat', 'approve'] });
    await expect(clientOf(other.key).responses.create(body)).rejects.toMatchObject({ status: 422, param: 'input[0].approval_request_id' });
    expect((await service.call('GET', approvalPath(question))).json).toMatchObject({ state: 'pending' });
  });
});
