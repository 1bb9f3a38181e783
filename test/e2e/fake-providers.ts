/**
 * All model APIs at once on loopback ports: the strict stand-ins of `test/fakes/upstreams/`, and a model without native tools over the
 * first of them. Each test scripts a story and puts the story's mark into the user's text, so that tests can run concurrently and each
 * finds its own requests. Every request is recorded unchanged.
 */
import { expect } from 'vitest';
import type { ProviderKind } from '../../src/core/names/provider-kind.ts';
import type { ProviderProfile } from '../../src/core/model/provider-profile.ts';
import { fakeAnthropic } from '../fakes/upstreams/anthropic.ts';
import { fakeCohere } from '../fakes/upstreams/cohere.ts';
import { fakeGemini } from '../fakes/upstreams/gemini.ts';
import { fakeOpenAiResponses } from '../fakes/upstreams/openai-responses.ts';
import { fakeOpenAi } from '../fakes/upstreams/openai.ts';
import {
  type FakeUpstream,
  listenUpstream,
  type ListeningUpstream,
  type Say,
  type Script,
  type Understood,
} from '../fakes/upstreams/upstream.ts';
import type { Answer } from './service.ts';

export const wires = ['openai', 'openai-responses', 'anthropic', 'gemini', 'cohere', 'text'] as const;
export type Wire = (typeof wires)[number];

export type Heard = {
  wire: Wire;
  path: string;
  headers: Headers;
  text: string;
  /** The stand-in's own output, '' where a fault replaced it. */
  reply: string;
  /** Resolves when the client has disconnected before the end of the response. */
  left: Promise<void>;
  hasLeft(): boolean;
  at: number;
};

/** `answer` makes the stand-in's own response; a rejection breaks the connection. */
export type Fault = (answer: () => Promise<Response>, request: Request) => Promise<Response>;

export type Story = {
  /** `index` counts the story's requests that got a response, from 0. */
  say: Script;
  /** Faults by request number, from 0. */
  faults?: Readonly<Record<number, Fault>>;
};

export type StartedStory = {
  /** The mark to put into the user's text. */
  mark: string;
  heard: Heard[];
  understood: Understood[];
};

type Api = {
  kind: ProviderKind;
  path: string;
  /** The most demanding kind: it reasons, and requires its reasoning back. */
  model: string;
  /** The API's documented header for the key. */
  credential: readonly [name: string, value: (key: string) => string];
  /** Fields of the provider's document: settings known for the API's public address, but not for a loopback address. */
  profile: ProviderProfile;
  create(script: Script): FakeUpstream;
};

const bearer: Api['credential'] = ['authorization', (key) => `Bearer ${key}`];

export const apis: Readonly<Record<Wire, Api>> = {
  openai: {
    kind: 'openai',
    path: '/v1',
    model: 'gpt-5.2',
    credential: bearer,
    // The stand-in has no Responses.
    profile: { exact: true, api: 'chat' },
    create: (script) => fakeOpenAi(script),
  },
  'openai-responses': {
    kind: 'openai-responses',
    path: '/v1',
    model: 'gpt-5.2',
    credential: bearer,
    profile: { exact: true },
    create: fakeOpenAiResponses,
  },
  anthropic: {
    kind: 'anthropic',
    path: '/v1',
    model: 'claude-sonnet-4-5',
    credential: ['x-api-key', String],
    profile: { exact: true },
    create: fakeAnthropic,
  },
  gemini: {
    kind: 'gemini',
    path: '/v1beta',
    model: 'gemini-3-flash-preview',
    credential: ['x-goog-api-key', String],
    profile: { noCallIds: false },
    create: fakeGemini,
  },
  cohere: { kind: 'cohere', path: '/v2', model: 'command-a-reasoning-08-2025', credential: bearer, profile: {}, create: fakeCohere },
  text: {
    kind: 'openai-compatible',
    path: '/v1',
    model: 'hermes-2',
    credential: bearer,
    profile: { protocol: 'text' },
    create: (script) => fakeOpenAi((heard, index) => inWords(script(heard, index))),
  },
};

/** Settings in which this provider differs from its kind. */
export const providerOf = (wire: Wire): string => `my-${wire}`;
export const refOf = (wire: Wire): string => `${providerOf(wire)}/${apis[wire].model}`;
export const keyOf = (wire: Wire): string => `key-of-${wire}-0123456789`;

export type FakeProviders = {
  urlOf(wire: Wire): string;
  /** Starts a story; `name` appears in failure messages. */
  start(name: string, story: Story): StartedStory;
  /** The reasons for which any stand-in rejected a request, in order. */
  refused(): string[];
  /**
   * PUTs all providers, and each again as `alike-<wire>`: a server that only resembles the API, so that replies with calls are rewritten.
   */
  putAll(call: Call): Promise<void>;
  close(): void;
};

type Call = (method: string, path: string, body?: unknown) => Promise<Answer>;

export async function startFakeProviders(): Promise<FakeProviders> {
  const stories = new Map<string, Story & StartedStory>();
  const started = new Map<Wire, { fake: FakeUpstream; listening: ListeningUpstream }>();
  for (const wire of wires) {
    const fake = apis[wire].create((understood) => {
      const story = stories.get(markIn(JSON.stringify(understood.messages)));
      if (story === undefined) throw new Error('no story has this mark');
      story.understood.push(understood);
      return story.say(understood, story.understood.length - 1);
    });
    const listening = await listenUpstream({
      async handle(request) {
        const text = await request.clone().text();
        const story = stories.get(markIn(text));
        if (story === undefined) return Response.json({ error: { message: 'no story has this mark' } }, { status: 418 });
        const heard = toHeard(wire, request, text);
        const number = story.heard.push(heard) - 1;
        const fault = story.faults?.[number];
        const answer = async (): Promise<Response> => {
          const response = await fake.handle(request);
          heard.reply = await response.clone().text();
          return response;
        };
        return await (fault === undefined ? answer() : fault(answer, request));
      },
    });
    started.set(wire, { fake, listening });
  }
  const of = (wire: Wire) => started.get(wire) as NonNullable<ReturnType<typeof started.get>>; // All wires were started.
  const urlOf = (wire: Wire): string => of(wire).listening.url + apis[wire].path;
  return {
    urlOf,
    start(name, story) {
      const mark = `[story ${stories.size + 1} ${name}]`;
      const startedStory = { ...story, mark, heard: [], understood: [] };
      stories.set(mark, startedStory);
      return startedStory;
    },
    refused: () => wires.flatMap((wire) => of(wire).fake.refused.map((why) => `${wire}: ${why}`)),
    async putAll(call) {
      const made = wires.map((wire) => {
        const { kind, model, profile } = apis[wire];
        const provider = { kind, baseUrl: urlOf(wire), apiKey: keyOf(wire), models: [model] };
        return [
          call('PUT', `/v1/providers/${providerOf(wire)}`, { ...provider, profile }),
          call('PUT', `/v1/providers/alike-${wire}`, { ...provider, profile: { ...profile, exact: false } }),
        ];
      });
      for (const { status, text } of await Promise.all(made.flat())) expect(status, text).toBe(201);
    },
    close: () => {
      for (const { listening } of started.values()) listening.close();
    },
  };
}

/** The newest mark: a session's history also holds those of earlier turns. */
function markIn(text: string): string {
  return text.match(/\[story [^\]]+\]/g)?.at(-1) ?? '';
}

function toHeard(wire: Wire, request: Request, text: string): Heard {
  const left = new Promise<void>((resolve) => request.signal.addEventListener('abort', () => resolve(), { once: true }));
  const { pathname, search } = new URL(request.url);
  return {
    wire,
    path: pathname + search,
    headers: request.headers,
    text,
    reply: '',
    left,
    hasLeft: () => request.signal.aborted,
    at: Date.now(),
  };
}

/** Writes calls as a model without native tools does. */
function inWords({ text = '', calls = [], ...say }: Say): Say {
  const written = calls.map(({ name, arguments: args }) => `<tool_call>${JSON.stringify({ name, arguments: args })}</tool_call>`);
  return { ...say, text: [text, ...written].filter((part) => part !== '').join('\n') };
}
