/**
 * Results of requests for resources and prompts as results of calls, and back: so that guards, redaction and bounds apply to them as to results
 * of tools. Both directions keep every member.
 *
 * | method | block of `content` | `structuredContent` |
 * |---|---|---|
 * | `resources/read` | `{type: "resource", resource}` for each of `contents` | the other members |
 * | `prompts/get` | the `content` of each of `messages` | the other members, and `messages` without their `content` |
 * | `completion/complete` | a text for each of `completion.values` | the other members, and `completion` without `values` |
 * | `resources/subscribe` | none | |
 */
import { isRecord, listOf, recordOf } from '../json/wire-value.ts';
import { Problem } from '../problem.ts';
import type { OfferMethod } from '../servers/upstream-method.ts';
import { cleanData } from './clean-result.ts';
import { contentText, type ContentBlock, type ToolResult } from './tool.ts';

type Members = Record<string, unknown>;

/**
 * `result`: as in MCP, at most `limits.maxJsonDepth` deep. Texts are returned in visible form. Throws `upstream_error` for a part that is not
 * an object.
 */
export function toCallResult(method: OfferMethod, result: Members): ToolResult {
  const { _meta: meta, ...rest } = cleanData(result);
  const { content, structured } = split(method, rest);
  return {
    isError: false,
    // Foreign blocks, which pass unchanged: a new type of block is the client's business.
    content: content as ContentBlock[],
    ...(Object.keys(structured).length > 0 && { structuredContent: structured }),
    ...(isRecord(meta) && { meta }),
  };
}

function split(method: OfferMethod, result: Members): { content: unknown[]; structured: Members } {
  switch (method) {
    case 'resources/read': {
      const { contents, ...structured } = result;
      return { content: partsOf('contents', contents).map((resource) => ({ type: 'resource', resource })), structured };
    }
    case 'prompts/get': {
      const { messages, ...others } = result;
      const read = partsOf('messages', messages);
      const content = partsOf(
        'content of the messages',
        read.map((message) => message.content),
      );
      return { content, structured: { ...others, messages: read.map(({ content: _content, ...message }) => message) } };
    }
    case 'completion/complete': {
      const { completion, ...others } = result;
      const { values, ...more } = recordOf(completion);
      return { content: listOf(values).map((text) => ({ type: 'text', text: String(text) })), structured: { ...others, completion: more } };
    }
    case 'resources/subscribe':
      return { content: [], structured: result };
    default:
      return method satisfies never;
  }
}

function partsOf(what: string, parts: unknown): Members[] {
  const list = Array.isArray(parts) ? (parts as unknown[]) : [];
  if (!list.every(isRecord)) throw new Problem('upstream_error', `The server returned a result whose ${what} are not objects.`);
  return list;
}

/** `uri`: of a resource whose contents the guard replaced by text. */
export function fromCallResult(method: OfferMethod, { content, structuredContent = {}, meta }: ToolResult, uri: string): Members {
  return { ...join(method, content, structuredContent, uri), ...(meta && { _meta: meta }) };
}

function join(method: OfferMethod, content: readonly ContentBlock[], structured: Members, uri: string): Members {
  switch (method) {
    case 'resources/read':
      return { ...structured, contents: content.map((block) => toContents(block, uri)) };
    case 'prompts/get': {
      const roles = listOf(structured.messages).map(recordOf);
      return { ...structured, messages: content.map((block, index) => ({ role: 'user', ...roles[index], content: block })) };
    }
    case 'completion/complete': {
      const values = content.map((block) => contentText([block]));
      return { ...structured, completion: { ...recordOf(structured.completion), values } };
    }
    case 'resources/subscribe':
      return {};
    default:
      return method satisfies never;
  }
}

function toContents(block: ContentBlock, uri: string): Members {
  return block.type === 'resource' ? block.resource : { uri, mimeType: 'text/plain', text: contentText([block]) };
}
