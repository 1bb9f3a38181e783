/** Calls that return a task: both kinds are polled, receive input, and are cancelled with the call. */
import { describe, expect, it } from 'vitest';
import { createMcpUpstream } from '../../../src/mcp/client/upstream.ts';
import type { UpstreamHooks } from '../../../src/ports/upstream.ts';
import { failure, type Message, result, type Script, type Scripted, scriptMcp } from '../../fakes/mcp-script.ts';
import { accessTo, callOf, contextWith } from './context.ts';

const url = 'https://mcp.example.com/mcp';
const discovered = {
  resultType: 'complete',
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {} },
  ttlMs: 0,
  cacheScope: 'private',
};
const task = { taskId: 'task-1', createdAt: '2026-08-01T00:00:00Z', lastUpdatedAt: '2026-08-01T00:00:00Z', ttlMs: null, pollIntervalMs: 1 };
const done = { content: [{ type: 'text', text: 'done' }] };
const methods = (scripted: Scripted): unknown[] =>
  scripted.heard.flatMap(({ message }) => (message?.method?.startsWith('t') ? [message.method] : []));

/** A server of 2026 whose `tools/call` starts a task. `answer`: handles all other requests. */
function modern(answer: (message: Message, count: number) => Response | undefined): Scripted {
  let count = 0;
  const script: Script = ({ message }) => {
    if (message?.method === 'server/discover') return result(message, discovered);
    if (message?.method === 'tools/call') return result(message, { resultType: 'task', status: 'working', ...task });
    return message === null ? undefined : answer(message, count++);
  };
  return scriptMcp(script);
}

const call = (scripted: Scripted, hooks: UpstreamHooks = {}, more: object = {}, signal = new AbortController().signal): Promise<unknown> =>
  createMcpUpstream().callTool(
    accessTo(url),
    callOf('slow', {}, more),
    hooks,
    contextWith({ fetch: (request) => scripted.handle(request), signal }),
  );

describe('a task of 2026-07-28', () => {
  it('is polled until it has a result', async () => {
    const scripted = modern((message, count) =>
      result(message, { resultType: 'complete', ...task, ...(count < 2 ? { status: 'working' } : { status: 'completed', result: done }) }),
    );
    expect(await call(scripted)).toEqual({ kind: 'result', result: { isError: false, ...done } });
    expect(methods(scripted)).toEqual(['tools/call', 'tasks/get', 'tasks/get', 'tasks/get']);
    expect(scripted.heard.at(-1)?.message?.params.taskId).toBe('task-1');
  });

  it.each([
    [
      { status: 'failed', error: { code: -32603, message: 'no paper', data: { tray: 2 } } },
      'The task failed: "no paper".',
      { protocolError: { code: -32603, message: 'no paper', data: { tray: 2 } } },
    ],
    [{ status: 'cancelled' }, 'The task was cancelled by its server.', {}],
  ])('that ends without a result is an error: %j', async (state, text, more) => {
    const scripted = modern((message) => result(message, { resultType: 'complete', ...task, ...state }));
    expect(await call(scripted)).toEqual({
      kind: 'result',
      result: { isError: true, code: 'tool_error', content: [{ type: 'text', text }], ...more },
    });
  });

  it('requests input, and continues with the answer', async () => {
    let given: unknown = null;
    const request = { method: 'elicitation/create', params: { message: 'Where?', requestedSchema: { type: 'object', properties: {} } } };
    const scripted = modern((message) => {
      if (message.method === 'tasks/update') {
        given = message.params.inputResponses;
        return result(message, { resultType: 'complete' });
      }
      const state =
        given === null ? { status: 'input_required', inputRequests: { where: request } } : { status: 'completed', result: done };
      return result(message, { resultType: 'complete', ...task, ...state });
    });
    const hooks = { askable: { elicitation: {} } };
    const asked = await call(scripted, hooks);
    expect(asked).toMatchObject({
      kind: 'input-required',
      input: { requests: { where: { method: 'elicitation/create' } }, state: expect.any(String) },
    });
    const { state } = (asked as { input: { state: string } }).input;
    expect(await call(scripted, hooks, { given: { responses: { where: { action: 'accept', content: {} } }, state } })).toMatchObject({
      result: { isError: false },
    });
    expect(given).toEqual({ where: { action: 'accept', content: {} } });
    expect(methods(scripted).filter((method) => method === 'tools/call')).toHaveLength(1);
  });

  it('is cancelled with its call', async () => {
    const controller = new AbortController();
    const cancelled = Promise.withResolvers<unknown>();
    const scripted = modern((message) => {
      if (message.method === 'tasks/cancel') {
        cancelled.resolve(message.params.taskId);
        return result(message, { resultType: 'complete' });
      }
      queueMicrotask(() => controller.abort(new Error('stopped')));
      return result(message, { resultType: 'complete', status: 'working', ...task });
    });
    await expect(call(scripted, {}, {}, controller.signal)).rejects.toThrow('stopped');
    expect(await cancelled.promise).toBe('task-1');
  });
});

describe('a task of 2025-11-25', () => {
  it.each([
    ['an error', (message: Message) => failure(message, -32601, "Tool slow requires task augmentation (taskSupport: 'required')")],
    [
      'a failed result',
      (message: Message) => result(message, { isError: true, content: [{ type: 'text', text: 'Tool slow requires task augmentation' }] }),
    ],
  ])('is started for a tool that requires it, which its server reports with %s', async (_how, refuse) => {
    let looks = 0;
    const scripted = scriptMcp(({ message }) => {
      switch (message?.method) {
        case 'tools/call':
          return message.params.task === undefined
            ? refuse(message)
            : result(message, { task: { taskId: 'old', status: 'working', pollInterval: 1 } });
        case 'tasks/get':
          looks += 1;
          return result(message, { taskId: 'old', status: looks < 2 ? 'working' : 'completed', pollInterval: 1 });
        case 'tasks/result':
          return result(message, done);
        default:
          return undefined;
      }
    });
    expect(await call(scripted)).toEqual({ kind: 'result', result: { isError: false, ...done } });
    expect(methods(scripted)).toEqual(['tools/call', 'tools/call', 'tasks/get', 'tasks/get', 'tasks/result']);
  });

  it('is not started again if its server loses the session before it has completed', async () => {
    let sessions = 0;
    let forgets = false;
    const scripted = scriptMcp(({ message }) => {
      if (message?.method === 'initialize') {
        sessions += 1;
        const answer = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'scripted', version: '1' } };
        return result(message, answer, { 'mcp-session-id': `session-${sessions}` });
      }
      if (message?.method === 'tools/call') {
        return forgets ? result(message, { task: { taskId: 'old', status: 'working', pollInterval: 1 } }) : result(message, done);
      }
      return message?.method === 'tasks/get' ? new Response(null, { status: 404 }) : undefined;
    });
    const upstream = createMcpUpstream();
    const context = contextWith({ fetch: (request) => scripted.handle(request) });
    const callSlow = () => upstream.callTool(accessTo(url), callOf('slow'), {}, context);
    await callSlow();
    forgets = true;
    await expect(callSlow()).rejects.toMatchObject({ code: 'upstream_error' });
    expect(methods(scripted)).toEqual(['tools/call', 'tools/call', 'tasks/get']);
    // An expired session is not used again.
    forgets = false;
    await callSlow();
    expect(scripted.heard.at(-1)?.request.headers.get('mcp-session-id')).toBe('session-2');
  });
});
