/** The protocols of clients in which a call is approved, each as its stock client speaks it: asks, and decides with its own means. */
import { createOpenAI } from '@ai-sdk/openai';
import {
  AbstractChat,
  type ChatState,
  DefaultChatTransport,
  generateText,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type ModelMessage,
  type UIMessage,
} from 'ai';
import OpenAI from 'openai';
import type { Response as Answered, ResponseInput } from 'openai/resources/responses/responses';
import type { Client } from '@modelcontextprotocol/client';
import { type QuestionReference, readApprovalId, toApprovalId } from '../../src/core/text/reference.ts';
import type { Interrupt } from '@ag-ui/client';
import { type AgUiMessage, interruptsOf, runAgent, toolCallsOf } from './ag-ui-client.ts';
import { endedTurn } from './eventually.ts';
import { connectClient, textOf } from './mcp-clients.ts';
import type { SharedService } from './shared-service.ts';

/** A question that a client got. `id`: of its approval, in all protocols. `state`: what its client sends back. */
export type Question = { id: string; arguments: unknown; state: unknown };

/** The session and call of a question. */
export function placeOf({ id }: Pick<Question, 'id'>): QuestionReference {
  const place = readApprovalId(id);
  if (place === null) throw new Error(`not the id of an approval: ${id}`);
  return place;
}

/** In the place of a call of a client, of which no turn knows. */
export const clientCall = 'call_client';

export type Choice = 'approve' | 'deny';

export type Surface = {
  /** Starts a turn whose call waits. */
  ask(input: string): Promise<Question>;
  /** Decides in the client's protocol, and returns the text of the rest of the turn. Throws what the client throws. */
  decide(question: Question, choice: Choice, reason?: string): Promise<string>;
  /** The client does not send reasons. */
  sendsNoReason?: true;
  /** A decision cannot be sent again: its link or its state is used. */
  decidesOnce?: true;
  /** The call is one of a client, not of a turn: only this client can decide, and the API does not list the approval. */
  atClient?: true;
  /** The question belongs to an open stream, which the client of the test does not resume. */
  endsAtRestart?: true;
};

const model = 'agent/guarded';

/** Moniker's own API, and the page of a link: the model's text is in the transcript. `chat`: the question came as the sentence of a chat client. */
export function ownSurface(service: SharedService, { by, chat = false }: { by: 'api' | 'link'; chat?: boolean }): Surface {
  const call = async (method: string, path: string, body?: object) => {
    const { status, json, text } = await service.call(method, path, body);
    if (status >= 400) throw new Error(json?.detail ?? text);
    return json;
  };
  return {
    ...(by === 'link' && { decidesOnce: true as const }),
    async ask(input) {
      if (!chat) {
        const session = (await call('POST', '/v1/sessions', { agent: 'guarded' })).id;
        const { pending } = await call('POST', `/v1/sessions/${session}/turns`, { input });
        return toQuestion(session, pending[0].callId, pending[0].arguments);
      }
      const { choices } = await call('POST', '/v1/chat/completions', { model, messages: [{ role: 'user', content: input }] });
      const [, session = '', callId = ''] = /\/v1\/sessions\/([0-9a-f]+)\/approvals\/(call_\w+)/.exec(choices[0].message.content) ?? [];
      return toQuestion(session, callId, (await call('GET', `/v1/sessions/${session}/approvals/${callId}`)).arguments);
    },
    async decide({ id }, choice, reason) {
      const { session, callId } = placeOf({ id });
      const path = `/v1/sessions/${session}/approvals/${callId}`;
      const body = { decision: choice, ...(reason !== undefined && { reason }) };
      if (by === 'api') await call('POST', path, body);
      else {
        const { url } = await call('POST', `${path}/link`);
        const response = await fetch(url, { method: 'POST', body: new URLSearchParams(body), headers: { accept: 'application/json' } });
        if (!response.ok) throw new Error(((await response.json()) as { detail: string }).detail);
      }
      await endedTurn(service, session);
      const { items } = await call('GET', `/v1/sessions/${session}/messages?order=desc&limit=1`);
      return items[0].parts.map(({ text = '' }: { text?: string }) => text).join('');
    },
  };
}

const toQuestion = (session: string, callId: string, given: unknown): Question => ({
  id: toApprovalId({ session, callId, round: 1 }),
  arguments: given,
  state: null,
});

/** `way`: how the client continues: from the last response, with all items again, or with the decision alone. */
export function responsesSurface(service: SharedService, way: 'previous' | 'resent' | 'alone', streamed: boolean): Surface {
  const send = async (body: { input: string | ResponseInput; previous_response_id?: string }, session?: string) => {
    const client = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: service.key, maxRetries: 0 });
    const headers = session === undefined ? {} : { 'x-moniker-session': session };
    const response = streamed
      ? // The SDK's accumulator throws for inconsistent events.
        await client.responses.stream({ model, ...body }, { headers }).finalResponse()
      : await client.responses.create({ model, ...body }, { headers });
    return response as Answered;
  };
  return {
    async ask(input) {
      const response = await send({ input });
      const request = response.output.find((item) => item.type === 'mcp_approval_request');
      if (request?.type !== 'mcp_approval_request') throw new Error(`no approval request: ${JSON.stringify(response.output)}`);
      return { id: request.id, arguments: JSON.parse(request.arguments), state: { input, response } };
    },
    async decide(question, choice, reason) {
      const { id, state } = question;
      const { input, response } = state as { input: string; response: Answered };
      const decision = { type: 'mcp_approval_response' as const, approval_request_id: id, approve: choice === 'approve', reason };
      const history = [{ role: 'user' as const, content: input }, ...(response.output as ResponseInput)];
      const next =
        way === 'previous'
          ? await send({ input: [decision], previous_response_id: response.id })
          : way === 'resent'
            ? await send({ input: [...history, decision] })
            : await send({ input: [decision] }, placeOf(question).session);
      return next.output_text;
    },
  };
}

/** The AI SDK with OpenAI's Responses API, which refers to earlier items by their ids. */
export function aiSdkSurface(service: SharedService): Surface {
  const generate = async (messages: ModelMessage[]) => {
    const { responses } = createOpenAI({ baseURL: `${service.url}/v1`, apiKey: service.key });
    return await generateText({ model: responses(model), messages, maxRetries: 0 });
  };
  return {
    sendsNoReason: true,
    async ask(input) {
      const user: ModelMessage = { role: 'user', content: input };
      const { content, response } = await generate([user]);
      const request = content.find((part) => part.type === 'tool-approval-request');
      if (request?.type !== 'tool-approval-request') throw new Error(`no approval request: ${JSON.stringify(content)}`);
      return { id: request.approvalId, arguments: request.toolCall.input, state: [user, ...response.messages] };
    },
    async decide({ id, state }, choice) {
      const decision: ModelMessage = {
        role: 'tool',
        content: [{ type: 'tool-approval-response', approvalId: id, approved: choice === 'approve', providerExecuted: true }],
      };
      return (await generate([...(state as ModelMessage[]), decision])).text;
    },
  };
}

/** The AI SDK's chat of a user interface, with its own transport, reader and condition for sending. */
export function uiSurface(service: SharedService): Surface {
  return {
    async ask(input) {
      const { chat, ended } = createUiChat(service, []);
      await Promise.all([chat.sendMessage({ text: input }), ended]);
      const part = chat.lastMessage?.parts.find((one) => one.type === 'dynamic-tool');
      if (part?.type !== 'dynamic-tool' || part.state !== 'approval-requested')
        throw new Error(`no approval request: ${JSON.stringify(chat.messages)}`);
      return { id: part.approval.id, arguments: part.input, state: chat.messages };
    },
    async decide({ id, state }, choice, reason) {
      const before = structuredClone(state as UIMessage[]);
      const { chat, ended } = createUiChat(service, before);
      await Promise.all([
        chat.addToolApprovalResponse({ id, approved: choice === 'approve', ...(reason !== undefined && { reason }) }),
        ended,
      ]);
      if (chat.messages.length !== before.length) throw new Error('the answer is a message of its own');
      return (chat.lastMessage?.parts ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('');
    },
  };
}

class UiChat extends AbstractChat<UIMessage> {}

/** `ended` settles with the first answer. */
export function createUiChat({ url, key }: SharedService, messages: UIMessage[], body: object = { model }) {
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  const state: ChatState<UIMessage> = {
    ...{ status: 'ready', error: undefined, messages, snapshot: structuredClone },
    pushMessage(message) {
      state.messages = [...state.messages, message];
    },
    popMessage() {
      state.messages = state.messages.slice(0, -1);
    },
    replaceMessage(index, message) {
      state.messages = state.messages.with(index, message);
    },
  };
  const transport = new DefaultChatTransport({ api: `${url}/v1/ai-sdk/chat`, headers: { authorization: `Bearer ${key}` }, body });
  const chat = new UiChat({
    ...{ id: 'chat', transport, state, onError: reject, onFinish: () => resolve() },
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  return { chat, ended };
}

/** AG-UI, with its own client. */
export function agUiSurface(service: SharedService): Surface {
  return {
    async ask(input) {
      const run = await runAgent(service, 'guarded', { messages: [{ id: 'm1', role: 'user', content: input }] });
      const pending = interruptsOf(run);
      const [interrupt] = pending;
      if (interrupt === undefined) throw new Error(`no interrupt: ${JSON.stringify(run)}`);
      const call = toolCallsOf(run.messages).find(({ id }) => id === interrupt.toolCallId);
      return { id: interrupt.id, arguments: JSON.parse(call?.function.arguments ?? ''), state: { messages: run.messages, pending } };
    },
    async decide({ id, state }, choice, reason) {
      const before = state as { messages: AgUiMessage[]; pending: Interrupt[] };
      const resume = [{ interruptId: id, status: 'resolved' as const, payload: { approved: choice === 'approve', reason } }];
      const { messages, error } = await runAgent(service, 'guarded', { ...before, resume });
      if (error !== null) throw new Error(error);
      return messages
        .slice(before.messages.length)
        .map(({ role, content }) => (role === 'assistant' ? String(content ?? '') : ''))
        .join('');
    },
  };
}

/** Calls of MCP clients work on the files of a session of Moniker here, so that their executions can be counted as those of turns. */
async function connectMcp(service: SharedService, prepare: (client: Client) => void) {
  const session: string = (await service.call('POST', '/v1/sessions', { agent: 'guarded' })).json.id;
  const more = { 'x-moniker-session': session };
  const client = await connectClient(
    `${service.url}/mcp/guarded`,
    service.key,
    'legacy',
    { elicitation: { form: {} } },
    prepare,
    more,
    () => service.url,
  );
  return { client, session };
}

const toElicitation = (choice: Choice, reason?: string) => ({
  action: 'accept' as const,
  content: { approve: choice === 'approve', ...(reason !== undefined && { reason }) },
});
const shownArguments = (message: string): unknown => JSON.parse(message.slice(message.indexOf('Arguments: ') + 'Arguments: '.length));
const commandOf = (input: string): string => input.slice('/shell '.length);

/** An MCP client of 2025: the server asks it on the open stream of its call. A decision is sent again as the same JSON-RPC response. */
export function elicitationSurface(service: SharedService): Surface {
  type Open = { client: Client; result: Promise<string>; id: string | number; answer(given: object): void; first?: string };
  return {
    ...{ atClient: true, endsAtRestart: true },
    async ask(input) {
      const asked = Promise.withResolvers<{ id: string | number; message: string }>();
      const answered = Promise.withResolvers<object>();
      const { client, session } = await connectMcp(service, (made) =>
        made.setRequestHandler('elicitation/create', async ({ params: { message } }, { mcpReq }) => {
          asked.resolve({ id: mcpReq.id, message });
          return (await answered.promise) as never;
        }),
      );
      const result = client.callTool({ name: 'shell', arguments: { command: commandOf(input) } }).then(textOf);
      result.catch(asked.reject);
      const { id, message } = await asked.promise;
      const open: Open = { client, result, id, answer: answered.resolve };
      return { ...toQuestion(session, clientCall, shownArguments(message)), state: open };
    },
    async decide({ state }, choice, reason) {
      const open = state as Open;
      const given = toElicitation(choice, reason);
      if (open.first === undefined) open.answer(given);
      else await open.client.transport?.send({ jsonrpc: '2.0', id: open.id, result: given });
      open.first = await open.result;
      return open.first;
    },
  };
}

/** An MCP client of 2026-07-28: the response asks, and the client repeats its request with the answer and the state. */
export function inputRequiredSurface(service: SharedService): Surface {
  type Asked = { inputRequests: Record<string, { params: { message: string } }>; requestState: string };
  const call = async (session: string, command: string, more: object = {}) => {
    const version = '2026-07-28';
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': version,
      'io.modelcontextprotocol/clientInfo': { name: 'moniker-tests', version: '1.0.0' },
      'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
    };
    const params = { name: 'shell', arguments: { command }, _meta, ...more };
    const response = await fetch(`${service.url}/mcp/guarded`, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${service.key}`, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        ...{ 'mcp-protocol-version': version, 'mcp-method': 'tools/call', 'mcp-name': 'shell', 'x-moniker-session': session },
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    });
    const text = await response.text();
    const last = text.split('\n').findLast((line) => line.startsWith('data: {'));
    const { result, error } = JSON.parse(last?.slice('data: '.length) ?? text);
    if (error !== undefined) throw new Error(error.message);
    return result;
  };
  return {
    ...{ atClient: true, decidesOnce: true },
    async ask(input) {
      const { json } = await service.call('POST', '/v1/sessions', { agent: 'guarded' });
      const command = commandOf(input);
      const { inputRequests, requestState }: Asked = await call(json.id, command);
      const [[key, { params }] = ['', { params: { message: '' } }]] = Object.entries(inputRequests);
      return { ...toQuestion(json.id, clientCall, shownArguments(params.message)), state: { command, key, requestState } };
    },
    async decide(question, choice, reason) {
      const { command, key, requestState } = question.state as { command: string; key: string; requestState: string };
      const inputResponses = { [key]: toElicitation(choice, reason) };
      return textOf(await call(placeOf(question).session, command, { inputResponses, requestState }));
    },
  };
}
