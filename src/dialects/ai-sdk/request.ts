/**
 * Reads a request of the AI SDK's chat in a user interface (`useChat`, `DefaultChatTransport` of ai 7): messages with parts, of which the last
 * assistant message has the user's decisions and the results of the client's tools. `dialect.ts` writes the answer.
 */
import * as z from 'zod';
import { isRecord, recordOf } from '../../core/json/wire-value.ts';
import { createDropped, type Dropped } from '../../core/model/dropped.ts';
import type { AssistantPart, InputPart } from '../../core/model/message.ts';
import { type Issue, parseInput, quoted } from '../../core/problem.ts';
import { readApprovalId } from '../../core/text/reference.ts';
import { parseClientTool, offerClientTools, pathOfOffered, readClientTools } from '../client-tools.ts';
import {
  type ConversationBuilder,
  type ConversationOptions,
  createConversation,
  readDecision,
  readFile,
  toCallPart,
} from '../conversation.ts';
import type { DialectRequest } from '../dialect.ts';

const Part = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  url: z.string().optional(),
  mediaType: z.string().optional(),
  filename: z.string().optional(),
  toolCallId: z.string().optional(),
  toolName: z.string().optional(),
  state: z.string().optional(),
  errorText: z.string().optional(),
  providerExecuted: z.boolean().optional(),
  approval: z.looseObject({ id: z.string(), approved: z.boolean().optional(), reason: z.string().optional() }).optional(),
});
type Part = z.infer<typeof Part>;

const Message = z.looseObject({ id: z.string().optional(), role: z.enum(['system', 'user', 'assistant']), parts: z.array(Part) });
type Message = z.infer<typeof Message>;

const Tool = z.looseObject({
  name: z.string(),
  description: z.string().nullish(),
  inputSchema: z.record(z.string(), z.unknown()).nullish(),
});

export const UiChatRequest = z
  .looseObject({
    model: z
      .string()
      .min(1)
      .max(300)
      .meta({ description: 'Extension: `agent/<name>` or `<provider>/<model>`, by `body` of the transport.' }),
    messages: z.array(Message).min(1).meta({ description: 'The whole conversation, as the client has it.' }),
    id: z.string().optional(),
    trigger: z.string().optional(),
    messageId: z.string().nullish(),
    tools: z.array(Tool).nullish().meta({ description: 'Extension: tools that the client runs, by `onToolCall` and `addToolOutput`.' }),
    toolset: z.string().min(1).max(100).nullish().meta({ description: 'Extension: the toolset whose tools the service runs.' }),
  })
  .meta({
    id: 'UiChatRequest',
    example: { model: 'agent/demo', messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }] },
  });
type UiChatRequest = z.infer<typeof UiChatRequest>;

/** What the writer must know of the request: the message that the answer continues, if any, and the calls that it has. */
export type ContinuedMessage = { messageId?: string; calls?: string[] };

const known = new Set(['model', 'messages', 'id', 'trigger', 'messageId', 'tools', 'toolset', 'metadata', 'stream']);

/** Throws `invalid_request`. */
export function readUiRequest(body: Readonly<Record<string, unknown>>): DialectRequest {
  const request = parseInput(UiChatRequest, body);
  const dropped = createDropped();
  for (const field of Object.keys(body)) if (!known.has(field)) dropped.add(field, 'fields of the application are not sent to models');
  const offered = offerClientTools(request.tools);
  const last = request.messages.at(-1);
  const echo: ContinuedMessage =
    last?.role === 'assistant' && last.id !== undefined
      ? { messageId: last.id, calls: last.parts.flatMap(({ toolCallId }) => toolCallId ?? []) }
      : {};
  return {
    streamed: true,
    includeUsage: false,
    choices: 1,
    conversation: (options) => toConversation(request, options, dropped),
    clientTools: (options) =>
      request.tools == null
        ? null
        : readClientTools(
            offered,
            ({ tool, path }, issues) => parseClientTool(tool, { path, schemaField: 'inputSchema', issues }),
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

function toConversation({ messages }: UiChatRequest, options: ConversationOptions, dropped: Dropped): ConversationBuilder {
  const conversation = createConversation(options);
  const issues: Issue[] = [];
  const lastAssistant = messages.findLastIndex(({ role }) => role === 'assistant');
  for (const [index, message] of messages.entries()) {
    const path = `messages[${index}].parts`;
    if (message.role === 'system') conversation.addSystem({ type: 'text', text: message.parts.map(({ text = '' }) => text).join('') });
    else if (message.role === 'user') conversation.addInput(userParts(message, path, { issues, dropped }), index > lastAssistant);
    else addAssistant(conversation, message, { path, issues, isNew: index === lastAssistant });
  }
  return conversation.finish(issues, { path: 'messages', message: 'must have a part that is not empty' });
}

type Reading = { issues: Issue[]; dropped: Dropped };

function userParts({ parts }: Message, path: string, { issues, dropped }: Reading): InputPart[] {
  return parts.flatMap((part, at): InputPart[] => {
    const place = `${path}[${at}]`;
    const { type, text, url, mediaType, filename } = part;
    if (type === 'text') return [{ type: 'text', text: text ?? '' }];
    if (type === 'file' && url !== undefined)
      return readFile({ source: url, mediaType, ...(filename !== undefined && { name: filename }) }, (message) =>
        issues.push({ path: `${place}.url`, message }),
      );
    if (type.startsWith('data-')) dropped.add(`messages[].parts[].${type}`, 'data of the application is not sent to models');
    else issues.push({ path: `${place}.type`, message: `${quoted(type)} parts are not supported here: send text or file parts` });
    return [];
  });
}

/**
 * Calls of server tools are not part of the history, since the session has them. What the client has decided and run is new in the last
 * assistant message.
 */
function addAssistant(
  conversation: ReturnType<typeof createConversation>,
  { parts }: Message,
  { path, issues, isNew }: { path: string; issues: Issue[]; isNew: boolean },
): void {
  const said: AssistantPart[] = [];
  const ran: Part[] = [];
  for (const [at, part] of parts.entries()) {
    const { type, text = '', toolCallId, approval, providerExecuted } = part;
    if (type === 'text') said.push({ type: 'text', text });
    else if (type === 'reasoning' && text !== '') said.push({ type: 'reasoning', text });
    else if (toolCallId !== undefined && providerExecuted !== true) {
      said.push(toCallPart(toolCallId, nameOf(part), recordOf(part.input)));
      ran.push(part);
    } else if (approval?.approved !== undefined && part.state === 'approval-responded') {
      const question = readApprovalId(approval.id);
      const place = `${path}[${at}].approval`;
      if (question === null) issues.push({ path: `${place}.id`, message: 'is not the id of an approval of this service' });
      else {
        const fault = (message: string): void => void issues.push({ path: `${place}.reason`, message });
        conversation.addDecision({ ...question, ...readDecision(approval.approved, approval.reason, fault), path: `${place}.id` }, isNew);
      }
    }
  }
  conversation.addAssistant(said);
  for (const { toolCallId = '', state, errorText, output } of ran) {
    if (state !== 'output-available' && state !== 'output-error') continue;
    const isError = state === 'output-error';
    const text = isError ? (errorText ?? '') : typeof output === 'string' ? output : JSON.stringify(output ?? null);
    conversation.addResult({ callId: toolCallId, content: [{ type: 'text', text }], isError }, isNew);
  }
}

function nameOf({ type, toolName }: Part): string {
  return type === 'dynamic-tool' ? (toolName ?? '') : type.slice('tool-'.length);
}

/** Reads what `readUiRequest` wrote. */
export function readContinued(echo: Readonly<Record<string, unknown>> | undefined): ContinuedMessage {
  return isRecord(echo) ? (echo as ContinuedMessage) : {}; // Written by `readUiRequest`.
}
