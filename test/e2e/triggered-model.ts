/** A model behind OpenAI's API on this machine that does what a test's script says, as the provider `scripted`. */
import { expect } from 'vitest';
import { fakeOpenAi } from '../fakes/upstreams/openai.ts';
import { listenUpstream, type Say, type Understood } from '../fakes/upstreams/upstream.ts';
import type { RunningService } from './service.ts';

export const scriptedModel = 'scripted/gpt-5.2';

export type TriggeredModel = { understood: Understood[]; refused: string[]; close(): void };

/** `script` sees each request; what it says to a turn's input it says once, so it looks at the last message. */
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

/** The input of the turn, where the model is asked to begin it; null: it has got results since. */
export function inputOf({ messages }: Understood): string | null {
  const last = messages.at(-1);
  return last?.role === 'user' ? last.text : null;
}
