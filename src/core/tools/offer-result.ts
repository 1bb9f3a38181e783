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
import { withOwnMeta } from './mcp-input.ts';
import type { OfferMethod } from './upstream-method.ts';
import { readBlock, toClientBlock } from './foreign-block.ts';
import { contentText, type ContentBlock, type ToolResult } from './tool.ts';

type Members = Record<string, unknown>;

/**
 * `result`: as in MCP, at most `limits.maxJsonDepth` deep. Throws `upstream_error` for a part that is not an object.
 */
export function toCallResult(method: OfferMethod, result: Members): ToolResult {
  const { _meta: meta, ...rest } = result;
  const { content, structured } = forms[method].split(rest);
  return {
    isError: false,
    content: content.map(readBlock),
    ...(Object.keys(structured).length > 0 && { structuredContent: structured }),
    ...(isRecord(meta) && { meta }),
  };
}

type Form = {
  split(result: Members): { content: unknown[]; structured: Members };
  join(content: readonly ContentBlock[], structured: Members, uri: string): Members;
};

const forms: Readonly<Record<OfferMethod, Form>> = {
  'resources/read': {
    split({ contents, ...structured }) {
      return { content: partsOf('contents', contents).map((resource) => ({ type: 'resource', resource })), structured };
    },
    join: (content, structured, uri) => ({ ...structured, contents: content.map((block) => toContents(block, uri)) }),
  },
  'prompts/get': {
    split({ messages, ...others }) {
      const read = partsOf('messages', messages);
      const contents = read.map((message) => message.content);
      const content = partsOf('content of the messages', contents);
      return { content, structured: { ...others, messages: read.map(({ content: _content, ...message }) => message) } };
    },
    join(content, structured) {
      const roles = listOf(structured.messages).map(recordOf);
      return { ...structured, messages: content.map((block, index) => ({ role: 'user', ...roles[index], content: toClientBlock(block) })) };
    },
  },
  'completion/complete': {
    split({ completion, ...others }) {
      const { values, ...more } = recordOf(completion);
      return { content: listOf(values).map((text) => ({ type: 'text', text: String(text) })), structured: { ...others, completion: more } };
    },
    join(content, structured) {
      const values = content.map((block) => contentText([block]));
      return { ...structured, completion: { ...recordOf(structured.completion), values } };
    },
  },
  'resources/subscribe': { split: (structured) => ({ content: [], structured }), join: () => ({}) },
};

function partsOf(what: string, parts: unknown): Members[] {
  const list = Array.isArray(parts) ? (parts as unknown[]) : [];
  if (!list.every(isRecord)) throw new Problem('upstream_error', `The server returned a result whose ${what} are not objects.`);
  return list;
}

/** `uri`: of a resource whose contents the guard replaced by text. */
export function fromCallResult(method: OfferMethod, { content, structuredContent, meta, repaired }: ToolResult, uri: string): Members {
  const shown = repaired === undefined ? meta : withOwnMeta(meta ?? {}, { repaired });
  return { ...forms[method].join(content, recordOf(structuredContent), uri), ...(shown && { _meta: shown }) };
}

function toContents(block: ContentBlock, uri: string): Members {
  const { type, resource } = toClientBlock(block);
  return type === 'resource' && isRecord(resource) ? resource : { uri, mimeType: 'text/plain', text: contentText([block]) };
}
