/**
 * A fake of OpenAI's two chat APIs under one base URL. `refuses`: the requests with tools that Chat Completions refuses, as since July 2026
 * (the body is quoted in GoogleChromeLabs/webmcp-tools#417). `only`: a server that has one of the two.
 */
import { fakeOpenAi } from './openai.ts';
import { fakeOpenAiResponses } from './openai-responses.ts';
import { recordOf } from './refusal.ts';
import type { FakeUpstream, Script } from './upstream.ts';

type Effort = string | undefined;
export type OpenAiApis = Pick<FakeUpstream, 'handle'> & {
  /** The paths that were requested, in order. */
  paths: string[];
  /** What was received, in order. */
  bodies: Record<string, unknown>[];
};

export function fakeOpenAiApis(
  script: Script,
  { refuses = () => false, only }: { refuses?: (effort: Effort) => boolean; only?: '/chat/completions' | '/responses' } = {},
): OpenAiApis {
  const [chat, responses] = [fakeOpenAi(script), fakeOpenAiResponses(script)];
  const paths: string[] = [];
  const bodies: Record<string, unknown>[] = [];
  return {
    paths,
    bodies,
    async handle(request) {
      const path = new URL(request.url).pathname.replace(/^\/v1/, '');
      const body = recordOf(await request.clone().json(), 'not JSON');
      paths.push(path);
      bodies.push(body);
      if (only !== undefined && path !== only) return Response.json({ detail: 'Not Found' }, { status: 404 });
      if (path === '/responses') return await responses.handle(request);
      return body.tools !== undefined && refuses(body.reasoning_effort as Effort)
        ? refusal(String(body.model))
        : await chat.handle(request);
    },
  };
}

function refusal(model: string): Response {
  const message = `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.`;
  return Response.json({ error: { message, type: 'invalid_request_error', param: 'reasoning_effort', code: null } }, { status: 400 });
}
