/** Calls that a server of 2025 refuses until the user has completed a page (-32042). */
import { ProtocolError } from '@modelcontextprotocol/server';
import { afterEach, describe, expect, it } from 'vitest';
import type { GivenInput, InputRequest, ProgressUpdate } from '../../../src/core/tools/mcp-input.ts';
import { createMcpUpstream } from '../../../src/mcp/client/upstream.ts';
import type { UpstreamHooks } from '../../../src/ports/upstream.ts';
import { type FakeMcpServer, listenMcpServer } from '../../fakes/mcp-server.ts';
import { accessTo, callOf, contextWith } from './context.ts';

const open: FakeMcpServer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

type Page = { url: string; elicitationId: string };
const able = { elicitation: { url: {} } };

/** `pagesOf`: the pages that the attempt requires, counted from 1; none: it succeeds. */
async function startServer(pagesOf: (attempt: number) => readonly Page[]) {
  let attempts = 0;
  const server = await listenMcpServer({
    eras: 'legacy',
    tools: [
      {
        name: 'fetch_mail',
        inputSchema: { type: 'object' },
        answer() {
          attempts += 1;
          const elicitations = pagesOf(attempts).map((page) => ({ mode: 'url', message: 'Sign in.', ...page }));
          if (elicitations.length > 0) throw new ProtocolError(-32_042, 'Sign in first', { elicitations });
          return { content: [{ type: 'text', text: 'mail' }] };
        },
      },
    ],
  });
  open.push(server);
  const upstream = createMcpUpstream();
  return {
    server,
    attempts: () => attempts,
    async call(hooks: UpstreamHooks, given?: GivenInput) {
      const answer = await upstream.callTool(accessTo(server.url), callOf('fetch_mail', {}, given && { given }), hooks, contextWith());
      if (answer.kind !== 'result') return answer;
      const { content, protocolError } = answer.result;
      const [block] = content;
      return { text: block?.type === 'text' ? block.text : '', ...(protocolError && { protocolError }) };
    },
  };
}

/** A client that waits for the answer. `opened`: called with each question. */
function liveClient(opened: (request: InputRequest) => unknown = () => undefined, action = 'accept') {
  const questions: string[] = [];
  const progress: ProgressUpdate[] = [];
  const completed: string[] = [];
  const hooks: UpstreamHooks = {
    askable: able,
    isLive: true,
    ask: async (request) => {
      questions.push(String(request.params.url));
      await opened(request);
      return { action };
    },
    progress: (update) => void progress.push(update),
    elicitationComplete: (id) => void completed.push(id),
  };
  return { hooks, questions, progress, completed };
}

const login: Page = { url: 'https://login.example/start', elicitationId: 'e1' };

describe('a call that requires a page, of a client that waits', () => {
  it('asks once and continues when the server reports the page as completed', async () => {
    const { server, call, attempts } = await startServer((attempt) => (attempt === 1 ? [login, login] : []));
    const { hooks, questions, completed } = liveClient(() => server.tellCompleted('e1'));
    expect(await call(hooks)).toEqual({ text: 'mail' });
    expect([questions, completed, attempts()]).toEqual([[login.url], ['e1'], 2]);
  });

  it('asks once at a server that reports nothing and names another page in every refusal', async () => {
    const { call } = await startServer((attempt) =>
      attempt < 3 ? [{ url: `https://login.example/${attempt}`, elicitationId: `e${attempt}` }] : [],
    );
    const { hooks, questions, progress } = liveClient();
    expect(await call(hooks)).toEqual({ text: 'mail' });
    expect(questions).toEqual(['https://login.example/1']);
    expect(progress.map(({ message }) => message)).toEqual([
      'Waiting until the user has completed the page.',
      'Waiting until the user has completed the page.',
    ]);
  });

  it('asks again for a page that follows a completed one, and for one of another host', async () => {
    const consent: Page = { url: 'https://login.example/consent', elicitationId: 'e2' };
    const other: Page = { url: 'https://pay.example/', elicitationId: 'e3' };
    const steps = [[login], [consent], [other], []];
    const { server, call } = await startServer((attempt) => steps[attempt - 1] ?? []);
    const { hooks, questions } = liveClient(({ params }) => server.tellCompleted(String(params.elicitationId)));
    expect(await call(hooks)).toEqual({ text: 'mail' });
    expect(questions).toEqual([login.url, consent.url, other.url]);
  });

  it.each(['decline', 'cancel'])('is not repeated after the answer %s', async (action) => {
    const { call, attempts } = await startServer(() => [login]);
    expect(await call(liveClient(undefined, action).hooks)).toEqual({
      text: 'fetch_mail was not run: its server requires that the user opens a page, and the user did not open it.',
    });
    expect(attempts()).toBe(1);
  });
});

describe('a call that requires a page, of a caller that answers later', () => {
  const later: UpstreamHooks = { askable: able };

  it('asks one question, and continues with the answer', async () => {
    const { call } = await startServer((attempt) => (attempt === 1 ? [login, login] : []));
    const asked = await call(later);
    expect(asked).toEqual({
      kind: 'input-required',
      input: {
        requests: {
          0: {
            method: 'elicitation/create',
            params: { mode: 'url', message: 'Server "files" asks: Sign in.', url: login.url, elicitationId: 'e1' },
          },
        },
        state: 'moniker:{"own":{},"pages":[{"host":"login.example","id":"e1"}]}',
      },
    });
    const state = 'input' in asked ? (asked.input.state ?? '') : '';
    expect(await call(later, { responses: { 0: { action: 'accept' } }, state })).toEqual({ text: 'mail' });
  });

  it('waits for the page without another question if it was not completed yet', async () => {
    const { call, attempts } = await startServer((attempt) => (attempt < 3 ? [{ ...login, elicitationId: `e${attempt}` }] : []));
    const asked = await call(later);
    const state = 'input' in asked ? (asked.input.state ?? '') : '';
    expect(await call(later, { responses: { 0: { action: 'accept' } }, state })).toEqual({ text: 'mail' });
    expect(attempts()).toBe(3);
  });

  it('is not repeated if the user declines', async () => {
    const { call, attempts } = await startServer(() => [login]);
    const asked = await call(later);
    const state = 'input' in asked ? (asked.input.state ?? '') : '';
    expect(await call(later, { responses: { 0: { action: 'decline' } }, state })).toMatchObject({
      text: expect.stringContaining('was not run'),
    });
    expect(attempts()).toBe(1);
  });
});

describe('a call that requires a page, of a caller that cannot be asked', () => {
  it('returns the error of the server, and the link with what to do', async () => {
    const { call } = await startServer(() => [login]);
    expect(await call({})).toEqual({
      text: `fetch_mail failed: its server returned error -32042: "Sign in first". Server "files" asks: Sign in. Open ${login.url} in a browser. Then call the tool again.`,
      protocolError: { code: -32_042, message: 'Sign in first', data: { elicitations: [{ mode: 'url', message: 'Sign in.', ...login }] } },
    });
  });

  it('has no links that may not be opened', async () => {
    const { call } = await startServer(() => [{ url: 'javascript:alert(1)', elicitationId: 'e1' }]);
    expect(await call({})).toMatchObject({ text: 'fetch_mail failed: its server returned error -32042: "Sign in first".' });
  });
});
