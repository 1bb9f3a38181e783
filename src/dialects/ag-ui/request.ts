/**
 * Reads a request of AG-UI (`RunAgentInput` of protocol 1.0): the conversation as messages, the client's tools, and the user's answers to
 * interrupts. `dialect.ts` writes the run. Wire: docs.ag-ui.com, specification 1.0; `packages/core/src/generated/types.ts` of ag-ui-protocol/ag-ui.
 */
import * as z from 'zod';
import { recordOf } from '../../core/json/wire-value.ts';
import type { ElicitationAnswer } from '../../core/servers/elicitation.ts';
import { createDropped, type Dropped } from '../../core/model/dropped.ts';
import type { AssistantPart, InputPart } from '../../core/model/message.ts';
import { type Issue, parseInput, quoted } from '../../core/problem.ts';
import { readApprovalId, readInputId } from '../../core/text/reference.ts';
import { offerClientTools, parseClientTool, pathOfOffered, readClientTools } from '../client-tools.ts';
import {
  type ConversationBuilder,
  type ConversationOptions,
  createConversation,
  readDecision,
  readFile,
  toCallPart,
} from '../conversation.ts';
import type { DialectRequest } from '../dialect.ts';
import { sessionOfMessages } from '../session-of-messages.ts';

const Source = z.looseObject({ type: z.string(), value: z.string().optional(), mimeType: z.string().nullish() });
const Part = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  source: Source.optional(),
  mimeType: z.string().optional(),
  url: z.string().nullish(),
  data: z.string().nullish(),
  filename: z.string().nullish(),
});
const Content = z.union([z.string(), z.array(Part)]).nullish();
type Content = z.infer<typeof Content>;

const Call = z.looseObject({ id: z.string(), function: z.looseObject({ name: z.string(), arguments: z.string() }) });

const roles = ['user', 'assistant', 'system', 'developer', 'tool', 'activity', 'reasoning'] as const;
const Message = z.looseObject({
  id: z.string().optional(),
  role: z.enum(roles),
  content: z.unknown().optional(),
  toolCalls: z.array(Call).nullish(),
  toolCallId: z.string().optional(),
  error: z.string().nullish(),
});

const Resume = z.looseObject({
  interruptId: z.string(),
  status: z.enum(['resolved', 'cancelled']),
  payload: z.unknown().optional(),
});

export const RunAgentInput = z
  .looseObject({
    threadId: z.string().min(1).max(300),
    runId: z.string().min(1).max(300),
    messages: z.array(Message).meta({ description: 'The whole conversation, as the client has it.' }),
    tools: z
      .array(
        z.looseObject({ name: z.string(), description: z.string().nullish(), parameters: z.record(z.string(), z.unknown()).nullish() }),
      )
      .nullish()
      .meta({ description: 'Tools that the client runs.' }),
    context: z
      .array(z.looseObject({ description: z.string(), value: z.string() }))
      .nullish()
      .meta({ description: 'Is added to the instructions.' }),
    resume: z.array(Resume).nullish().meta({
      description:
        'Answers to interrupts: payload `{"approved": true}` or `{"approved": false, "reason": "…"}`, the reason optional. To a question of a tool’s server: the fields of `responseSchema`.',
    }),
  })
  .meta({
    id: 'RunAgentInput',
    example: { threadId: 't1', runId: 'r1', messages: [{ id: 'm1', role: 'user', content: 'Hello' }], tools: [], context: [] },
  });
type RunAgentInput = z.infer<typeof RunAgentInput>;

/** What the writer must know of the request. `open`: calls of server tools that the client has without their results. */
export type RunEcho = { threadId: string; runId: string; open: string[] };

const known = new Set(['threadId', 'runId', 'messages', 'tools', 'context', 'resume', 'protocolVersion', 'model', 'stream']);

/** Begins the ids of server tool calls, which are not part of the history that a client sends: the session has them. */
export const serverCallPrefix = 'tool_';

/** Throws `invalid_request`. */
export function readRunInput(body: Readonly<Record<string, unknown>>): DialectRequest {
  const input = parseInput(RunAgentInput, body);
  const dropped = createDropped();
  for (const [field, value] of Object.entries(body))
    if (!known.has(field) && !isEmpty(value)) dropped.add(field, 'models are not sent values of the application: send them as context');
  const offered = offerClientTools(input.tools);
  const answered = new Set(input.messages.map(({ toolCallId }) => toolCallId));
  const calls = input.messages.flatMap(({ toolCalls }) => (toolCalls ?? []).map(({ id }) => id));
  const echo: RunEcho = {
    threadId: input.threadId,
    runId: input.runId,
    open: calls.filter((id) => id.startsWith(serverCallPrefix) && !answered.has(id)),
  };
  return {
    streamed: true,
    includeUsage: true,
    choices: 1,
    conversation: (options) => toConversation(input, options, dropped),
    clientTools: (options) =>
      input.tools == null
        ? null
        : readClientTools(
            offered,
            ({ tool: { name, description, parameters }, path }, issues) =>
              parseClientTool({ name, description, inputSchema: parameters }, { path, schemaField: 'parameters', issues }),
            options,
          ),
    settings: () => ({}),
    allowedTools: () => null,
    toolPath: (index) => `${pathOfOffered(offered, index)}.name`,
    previous: null,
    echo,
    dropped,
  };
}

/** Returns the session of the interrupts that are answered, or else of the messages. Takes an unvalidated request. */
export function sessionOfRun({ resume, messages }: Readonly<Record<string, unknown>>): string | null {
  for (const entry of Array.isArray(resume) ? resume : []) {
    const id = String(recordOf(entry).interruptId);
    const session = (readInputId(id) ?? readApprovalId(id))?.session;
    if (session !== undefined) return session;
  }
  return sessionOfMessages('ag-ui', messages);
}

function isEmpty(value: unknown): boolean {
  return value == null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);
}

function toConversation({ messages, context, resume }: RunAgentInput, options: ConversationOptions, dropped: Dropped): ConversationBuilder {
  const conversation = createConversation(options);
  const issues: Issue[] = [];
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  for (const [index, { role, content, toolCalls, toolCallId = '', error }] of messages.entries()) {
    const place = `messages[${index}]`;
    const read = (): InputPart[] => inputParts(content, `${place}.content`, issues);
    const isNew = index > last;
    if (role === 'user') conversation.addInput(read(), isNew);
    else if (role === 'system' || role === 'developer') conversation.addSystem({ type: 'text', text: textOf(read()) });
    else if (role === 'assistant') {
      const own = (toolCalls ?? []).filter(({ id }) => !id.startsWith(serverCallPrefix));
      const calls = own.map(({ id, function: called }) => toCallPart(id, called.name, called.arguments));
      const text = textOf(read());
      const said: AssistantPart[] = text === '' ? [] : [{ type: 'text', text }];
      conversation.addAssistant([...said, ...calls], true);
    } else if (role === 'reasoning') conversation.addAssistant([{ type: 'reasoning', text: textOf(read()) }], true);
    else if (role === 'activity') dropped.add('messages[].activity', 'activities are for the user interface');
    else if (!toolCallId.startsWith(serverCallPrefix)) {
      const text = error ?? textOf(read());
      conversation.addResult({ callId: toolCallId, content: [{ type: 'text', text }], isError: error != null }, isNew);
    }
  }
  for (const { description, value } of context ?? []) conversation.addSystem({ type: 'text', text: `${description}: ${value}` });
  for (const [index, entry] of (resume ?? []).entries()) {
    const path = `resume[${index}]`;
    const input = readInputId(entry.interruptId);
    if (input !== null) {
      const { key, isPage, ...asked } = input;
      conversation.addDecision({ ...asked, key, answer: readAnswer(entry, isPage), path: `${path}.payload` }, true);
      continue;
    }
    const question = readApprovalId(entry.interruptId);
    const decided = entry.status === 'cancelled' ? { decision: 'deny' as const } : readPayload(entry.payload, `${path}.payload`, issues);
    if (question === null) issues.push({ path: `${path}.interruptId`, message: 'is not the id of an interrupt of this service' });
    else conversation.addDecision({ ...question, ...decided, path: `${path}.interruptId` }, true);
  }
  return conversation.finish(issues, { path: 'messages', message: 'must have a message that is not empty' });
}

/** The session checks the content of a form. */
function readAnswer({ status, payload }: z.infer<typeof Resume>, isPage: boolean): ElicitationAnswer {
  if (status === 'cancelled') return { action: 'cancel' };
  return { action: 'accept', ...(!isPage && { content: recordOf(payload) }) };
}

/** An approval is for exactly the arguments that were shown. */
function readPayload(payload: unknown, path: string, issues: Issue[]): ReturnType<typeof readDecision> {
  const { approved, editedArgs, reason } = recordOf(payload);
  if (editedArgs !== undefined)
    issues.push({ path: `${path}.editedArgs`, message: 'is not supported: deny the call, and tell the agent what to change' });
  if (typeof approved !== 'boolean') issues.push({ path: `${path}.approved`, message: 'must be true or false' });
  if (reason != null && typeof reason !== 'string') issues.push({ path: `${path}.reason`, message: 'must be a text' });
  const fault = (message: string): void => void issues.push({ path: `${path}.reason`, message });
  return readDecision(approved === true, typeof reason === 'string' ? reason : null, fault);
}

function textOf(parts: readonly InputPart[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

function inputParts(content: unknown, path: string, issues: Issue[]): InputPart[] {
  const parsed = Content.safeParse(content);
  if (!parsed.success) {
    issues.push({ path, message: 'must be a text or a list of parts' });
    return [];
  }
  const parts: Content = parsed.data;
  if (parts == null || typeof parts === 'string') return parts == null || parts === '' ? [] : [{ type: 'text', text: parts }];
  return parts.flatMap(({ type, text, source, mimeType, url, data, filename }, index): InputPart[] => {
    const place = `${path}[${index}]`;
    if (type === 'text') return [{ type: 'text', text: text ?? '' }];
    const value = source?.value ?? url ?? data;
    if (value != null) {
      const named = filename != null && { name: filename };
      const file = { source: value, mediaType: source?.mimeType ?? mimeType, ...named };
      return readFile(file, (message) => issues.push({ path: place, message }));
    }
    issues.push({ path: `${place}.type`, message: `${quoted(type)} parts without their data or URL are not supported` });
    return [];
  });
}
