/** A stand-in for a model behind OpenAI's API, scripted by a test, as the provider `scripted`. */
import { expect } from 'vitest';
import { fakeOpenAi } from '../fakes/upstreams/openai.ts';
import { listenUpstream, type Say, type Understood } from '../fakes/upstreams/upstream.ts';
import type { RunningService } from './service.ts';

export const scriptedModel = 'scripted/gpt-5.2';

export type TriggeredModel = { understood: Understood[]; refused: string[]; close(): void };

/** `script` receives each request and returns its reply to a turn's input once, so it should check the last message. */
export async function startTriggeredModel(
  service: Pick<RunningService, 'call'>,
  script: (heard: Understood) => Say,
): Promise<TriggeredModel> {
  const { understood, refused, handle } = fakeOpenAi(script);
  const { url, close } = await listenUpstream({ handle });
  const provider = { kind: 'openai', baseUrl: `${url}/v1`, apiKey: 'key-of-the-scripted-model', profile: { exact: true } };
  expect((await service.call('PUT', '/v1/providers/scripted', provider)).status).toBe(201);
  return { understood, refused, close };
}

/** The input of the turn when the request starts it; null when it continues with results. */
export function inputOf({ messages }: Understood): string | null {
  const last = messages.at(-1);
  return last?.role === 'user' ? last.text : null;
}
