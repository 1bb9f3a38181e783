/** Models of clouds behind the running service, with the vendors' own clients. */
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fakeAnthropic } from '../fakes/upstreams/anthropic.ts';
import { awsKey, fakeBedrock } from '../fakes/upstreams/clouds.ts';
import { type ListeningUpstream, listenUpstream } from '../fakes/upstreams/upstream.ts';
import { calls, scriptOf } from '../providers/sdk-script.ts';
import { shareService } from './shared-service.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' });
const fake = fakeBedrock(fakeAnthropic(scriptOf({ text: { text: 'Hello there.' }, calls: { text: 'One moment.', calls } })));
let listening: ListeningUpstream;

beforeAll(async () => {
  listening = await listenUpstream(fake);
  const bedrock = { kind: 'bedrock', region: 'us-east-1', baseUrl: listening.url, apiKey: JSON.stringify(awsKey) };
  expect((await service.call('PUT', '/v1/providers/aws', bedrock)).status).toBe(201);
});
afterAll(() => listening.close());

const claude = 'aws/us.anthropic.claude-haiku-4-5-20251001-v1:0';
const openai = () => new OpenAI({ baseURL: `${service.url}/v1`, apiKey: service.key, maxRetries: 0 });
const anthropic = () => new Anthropic({ baseURL: service.url, apiKey: service.key, maxRetries: 0 });

it('the client of OpenAI has streamed calls of a model with Converse', async () => {
  const tools = calls.map(({ name }) => ({ type: 'function' as const, function: { name, parameters: { type: 'object' } } }));
  const messages = [{ role: 'user' as const, content: 'calls' }];
  const stream = openai().chat.completions.stream({ model: 'aws/amazon.nova-pro-v1:0', messages, tools });
  const [choice] = (await stream.finalChatCompletion()).choices;
  expect(choice?.message.content).toBe('One moment.');
  expect(choice?.message.tool_calls?.map((call) => (call.type === 'function' ? JSON.parse(call.function.arguments) : null))).toEqual(
    calls.map((call) => call.arguments),
  );
});

it('the client of Anthropic has streams and messages of Claude on Bedrock', async () => {
  const ask = { model: claude, max_tokens: 100, messages: [{ role: 'user' as const, content: 'text' }] };
  expect(await anthropic().messages.stream(ask).finalText()).toBe('Hello there.');
  expect((await anthropic().messages.create(ask)).content).toEqual([{ type: 'text', text: 'Hello there.' }]);
  expect(fake.refused).toEqual([]);
});

it('the key of the cloud is never shown', async () => {
  const shown = JSON.stringify([await service.call('GET', '/v1/providers/aws'), await service.call('GET', '/v1/providers')]);
  expect(shown).toContain('"hasApiKey":true');
  expect(shown).not.toContain(awsKey.SecretAccessKey);
  expect(shown).not.toContain(awsKey.SessionToken);
});
