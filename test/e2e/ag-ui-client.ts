/**
 * A small client of AG-UI 1.0 after its specification (docs.ag-ui.com/spec/1.0): it keeps the messages that a run builds, and refuses events
 * that the specification does not allow where they stand.
 */
export type AgUiMessage = {
  id: string;
  role: string;
  content?: string;
  toolCalls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[];
  toolCallId?: string;
};
export type AgUiEvent = { type: string; messageId: string; toolCallId: string; delta: string; [field: string]: unknown };
export type Interrupt = { id: string; reason: string; message: string; toolCallId: string; responseSchema: object; expiresAt: string };
export type Run = {
  events: AgUiEvent[];
  messages: AgUiMessage[];
  outcome: { type: string; interrupts?: Interrupt[]; pendingToolCallIds?: string[] } | null;
  error: string | null;
};

type Input = { messages: AgUiMessage[]; resume?: object[]; tools?: object[]; [field: string]: unknown };
let runs = 0;

export async function runAgent({ url, key }: { url: string; key: string }, agent: string, input: Input): Promise<Run> {
  runs += 1;
  const runId = `run-${runs}`;
  const response = await fetch(`${url}/agui/${agent}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ threadId: 'thread', runId, state: {}, tools: [], context: [], forwardedProps: {}, ...input }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text}`);
  const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data) as AgUiEvent);
  return { events, ...build(structuredClone(input.messages), events, runId) };
}

function build(messages: AgUiMessage[], events: readonly AgUiEvent[], runId: string): Omit<Run, 'events'> {
  const openTexts = new Map<string, AgUiMessage>();
  const openCalls = new Map<string, { arguments: string }>();
  const calls = new Set(messages.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id)));
  const require = (holds: boolean, event: AgUiEvent): void => {
    if (!holds) throw new Error(`not allowed here: ${JSON.stringify(event)}`);
  };
  const isUnused = (id: string): boolean => messages.every((message) => message.id !== id);
  let outcome: Run['outcome'] = null;
  let error: string | null = null;
  for (const [index, event] of events.entries()) {
    const { type, messageId, toolCallId, delta } = event;
    require((type === 'RUN_STARTED') === (index === 0) && outcome === null && error === null, event);
    if (type === 'TEXT_MESSAGE_START' || type === 'REASONING_MESSAGE_START') {
      require(isUnused(messageId) && openTexts.size === 0, event);
      const message = { id: messageId, role: String(event.role), content: '' };
      messages.push(message);
      openTexts.set(messageId, message);
    } else if (type === 'TEXT_MESSAGE_CONTENT' || type === 'REASONING_MESSAGE_CONTENT') {
      const message = openTexts.get(messageId);
      require(message !== undefined, event);
      if (message !== undefined) message.content = (message.content ?? '') + delta;
    } else if (type === 'TEXT_MESSAGE_END' || type === 'REASONING_MESSAGE_END') require(openTexts.delete(messageId), event);
    else if (type === 'TOOL_CALL_START') {
      require(!calls.has(toolCallId), event);
      const called = { name: String(event.toolCallName), arguments: '' };
      calls.add(toolCallId);
      openCalls.set(toolCallId, called);
      const parent = messages.find(({ id, role }) => id === event.parentMessageId && role === 'assistant');
      const message = parent ?? { id: String(event.parentMessageId), role: 'assistant' };
      if (parent === undefined) messages.push(message);
      message.toolCalls = [...(message.toolCalls ?? []), { id: toolCallId, type: 'function', function: called }];
    } else if (type === 'TOOL_CALL_ARGS') {
      const call = openCalls.get(toolCallId);
      require(call !== undefined, event);
      if (call !== undefined) call.arguments += delta;
    } else if (type === 'TOOL_CALL_END') require(openCalls.delete(toolCallId), event);
    else if (type === 'TOOL_CALL_RESULT') {
      require(calls.has(toolCallId) && isUnused(messageId), event);
      messages.push({ id: messageId, role: 'tool', toolCallId, content: String(event.content) });
    } else if (type === 'RUN_FINISHED') {
      require(openTexts.size + openCalls.size === 0 && event.runId === runId, event);
      outcome = event.outcome as Run['outcome'];
    } else if (type === 'RUN_ERROR') error = String(event.message);
    else require(['RUN_STARTED', 'REASONING_START', 'REASONING_END', 'CUSTOM'].includes(type), event);
  }
  if (outcome === null && error === null) throw new Error('the run has no end');
  return { messages, outcome, error };
}
