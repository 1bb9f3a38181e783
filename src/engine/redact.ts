/**
 * Takes secret values that a call has read out of what it answers, however they are spelt (`core/secret-spellings.ts`), before
 * anything is stored or logged. Only values that were really read are looked for, so an ordinary call costs nothing.
 */
import { secretParts, secretSpellings } from '../core/secret-spellings.ts';
import type { ContentBlock, ToolResult } from '../core/tool.ts';
import { limits } from '../core/limits.ts';
import { Problem } from '../core/problem.ts';
import type { Logger } from '../ports/runtime.ts';

export type Redactor = {
  keep(value: string): string;
  clean<Result extends ToolResult>(result: Result): Result;
  text(text: string): string;
  /** Data that a tool made: the same shape. */
  data<Value>(value: Value): Value;
  /** The same log, without what was kept by the time of writing. */
  log(log: Logger): Logger;
};

export function createRedactor(): Redactor {
  let forms: string[] = [];
  const clean = (text: string): string => {
    let rest = text;
    for (const form of forms) rest = rest.replaceAll(form, '[secret]');
    return rest;
  };
  // Texts for texts: the shape is the same.
  const cleanMember = <Value>(value: Value): Value => cleanValue(value, clean) as Value;
  return {
    keep(value) {
      // One secret may be the beginning of another: over all of them, too, the longest goes first.
      const parts = secretParts(value).filter(({ length }) => length >= limits.minRedactedSecretLength);
      if (parts.length > 0)
        forms = [...new Set([...forms, ...parts.flatMap(secretSpellings)])].sort((one, other) => other.length - one.length);
      return value;
    },
    text: clean,
    data: (value) => (forms.length === 0 ? value : cleanMember(value)),
    clean(result) {
      if (forms.length === 0) return result;
      return {
        ...result,
        content: result.content.map((block) => cleanBlock(block, clean)),
        ...(result.structuredContent && { structuredContent: cleanMember(result.structuredContent) }),
        ...(result.issues && { issues: cleanMember(result.issues) }),
      };
    },
    log(log) {
      const cleaned = (write: Logger['info']): Logger['info'] => {
        return (message, fields) => (forms.length === 0 ? write(message, fields) : write(clean(message), cleanMember(fields)));
      };
      return {
        error: cleaned((message, fields) => log.error(message, fields)),
        info: cleaned((message, fields) => log.info(message, fields)),
        debug: cleaned((message, fields) => log.debug(message, fields)),
      };
    },
  };
}

/** A server's own words stand in a problem's detail, and it may tell what it was sent. */
export function withoutSecrets(error: unknown, { text, data }: Pick<Redactor, 'text' | 'data'>): unknown {
  if (!(error instanceof Problem)) return error;
  return new Problem(error.code, text(error.detail), data({ ...error.extra }), { cause: error.cause });
}

/** The same shape, every text in it cleaned, names of members included. A number that reads like a secret becomes its mark. */
function cleanValue(value: unknown, clean: (text: string) => string): unknown {
  if (typeof value === 'string') return clean(value);
  if (typeof value === 'number') return clean(String(value)) === String(value) ? value : clean(String(value));
  if (Array.isArray(value)) return value.map((item) => cleanValue(item, clean));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [clean(name), cleanValue(member, clean)]));
}

/** What an image or a sound says is not looked for. */
function cleanBlock(block: ContentBlock, clean: (text: string) => string): ContentBlock {
  switch (block.type) {
    case 'text':
      return { ...block, text: clean(block.text) };
    case 'resource_link':
    case 'resource':
      return cleanValue(block, clean) as ContentBlock; // The same shape, text for text.
    case 'image':
    case 'audio':
      return block;
    default:
      return block satisfies never;
  }
}
