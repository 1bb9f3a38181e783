/**
 * Removes the secret values that a call has read from everything it returns, in whatever encoding (`core/policy/secret-spellings.ts`), before it is
 * stored or logged. Only values that were read are searched for, so most calls cost nothing. Then applies the redaction rules of the
 * workspace, if it has any. Linear in the size of the result.
 */
import { ServerRpcError } from '../mcp/rpc-error.ts';
import { createExactScanner, createSqueezedScanner, minSqueezedLength, type Scanner, type Span } from '../../core/policy/secret-scanner.ts';
import { hiddenSpellings, secretParts, secretSpellings } from '../../core/policy/secret-spellings.ts';
import type { TextRedactor } from '../../core/redaction/redact-text.ts';
import type { ContentBlock, ToolResult } from '../../core/tools/tool.ts';
import { limits } from '../../core/limits.ts';
import { Problem } from '../../core/problem.ts';
import type { Logger } from '../../ports/runtime.ts';
import type { ServerTokens } from '../../ports/upstream.ts';

export type Redactor = {
  /** Adds a secret value to remove, and returns it. */
  addSecret(value: string): string;
  /** Redacts a tool result. */
  result<Result extends ToolResult>(result: Result): Result;
  text(text: string): string;
  /** Redacts all texts in a value, keeping its shape. */
  data<Value>(value: Value): Value;
  /** Wraps a log: removes the values that are known when a line is written. */
  log(log: Logger): Logger;
};

const mark = '[secret]';

/** The rules of the workspace; null: none apply. */
export type RedactionRules = { results: TextRedactor | null; logs: TextRedactor | null };

export function createRedactor(rules: RedactionRules | null = null): Redactor {
  const parts = new Set<string>();
  let made: Finder | null = null;
  const finder = (): Finder => (made ??= createFinder([...parts]));
  const hide = <Value>(value: Value, redact: TextRedactor | null | undefined): Value => {
    const clean = parts.size === 0 ? value : cleanMember(value, (texts) => cleanTexts(texts, finder()));
    return redact == null ? clean : cleanMember(clean, (texts) => mapTexts(texts, redact));
  };
  const data = <Value>(value: Value): Value => hide(value, rules?.results);
  return {
    addSecret(value) {
      for (const part of secretParts(value)) if (part.length >= limits.minRedactedSecretLength) parts.add(part);
      made = null;
      return value;
    },
    text: (text) => data(text),
    data,
    result(result) {
      if (parts.size === 0 && rules?.results == null) return result;
      const { content, structuredContent, issues, meta, protocolError } = result;
      return {
        ...result,
        content: data(parts.size === 0 ? content : cleanBlocks(content, finder())),
        ...(structuredContent && { structuredContent: data(structuredContent) }),
        ...(issues && { issues: data(issues) }),
        ...(meta && { meta: data(meta) }),
        ...(protocolError && { protocolError: data(protocolError) }),
      };
    },
    log(log) {
      const cleaned = (write: Logger['info']): Logger['info'] => {
        return (message, fields) => write(hide(message, rules?.logs), hide(fields, rules?.logs));
      };
      return {
        error: cleaned((message, fields) => log.error(message, fields)),
        info: cleaned((message, fields) => log.info(message, fields)),
        debug: cleaned((message, fields) => log.debug(message, fields)),
      };
    },
  };
}

/** Redacts a problem: its detail may contain a server's own text, which may repeat what it was sent. */
export function redactProblem(error: unknown, { text, data }: Pick<Redactor, 'text' | 'data'>): unknown {
  if (!(error instanceof Problem)) return error;
  const cause = error.cause instanceof ServerRpcError ? new ServerRpcError(data(error.cause.rpc)) : error.cause;
  return new Problem(error.code, text(error.detail), data({ ...error.extra }), { cause });
}

/** The scanner of exact spellings, then the one of squeezed text. */
type Finder = readonly Scanner[];

function createFinder(parts: readonly string[]): Finder {
  const long = parts.filter(({ length }) => length >= minSqueezedLength);
  return [
    createExactScanner(parts.flatMap(secretSpellings)),
    createSqueezedScanner(long.flatMap((part) => [...secretSpellings(part), ...hiddenSpellings(part)])),
  ];
}

/**
 * Redacts every text in a value, including member names, and keeps its shape. A number that spells a secret is replaced. A secret that is
 * split over several texts is removed from each.
 */
function cleanMember<Value>(value: Value, clean: (texts: string[]) => string[]): Value {
  const [values, names]: [string[], string[]] = [[], []];
  collect(value, values, names);
  const [cleanValues, cleanNames] = [clean(values), clean(names)];
  // Texts are replaced by texts, so the type stays the same.
  return cleanValues === values && cleanNames === names ? value : (rebuild(value, cleanValues.values(), cleanNames.values()) as Value);
}

/** Collects texts in the order in which `rebuild` consumes them. */
function collect(value: unknown, values: string[], names: string[]): void {
  if (typeof value === 'string' || typeof value === 'number') values.push(String(value));
  else if (Array.isArray(value)) for (const item of value) collect(item, values, names);
  else if (typeof value === 'object' && value !== null)
    for (const [name, member] of Object.entries(value)) {
      names.push(name);
      collect(member, values, names);
    }
}

function rebuild(value: unknown, values: Iterator<string>, names: Iterator<string>): unknown {
  if (typeof value === 'string') return values.next().value;
  if (typeof value === 'number') {
    const text = values.next().value;
    return text === String(value) ? value : text;
  }
  if (Array.isArray(value)) return value.map((item) => rebuild(item, values, names));
  if (typeof value !== 'object' || value === null) return value;
  const distinct = createDistinctNames();
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [distinct(nameOf(name, names)), rebuild(member, values, names)]));
}

/** Two names may become the same label: later ones are numbered, so that no member is lost. */
function createDistinctNames(): (name: string) => string {
  const uses = new Map<string, number>();
  return (name) => {
    const count = (uses.get(name) ?? 0) + 1;
    uses.set(name, count);
    if (count === 1) return name;
    const numbered = `${name} ${count}`;
    uses.set(numbered, 1);
    return numbered;
  };
}

function nameOf(name: string, names: Iterator<string>): string {
  const next = names.next();
  return next.done === true ? name : next.value;
}

/** Returns the same array if nothing was found. */
function mapTexts(texts: string[], redact: TextRedactor): string[] {
  const clean = texts.map(redact);
  return clean.every((text, index) => text === texts[index]) ? texts : clean;
}

/** Returns the same array if nothing was found. */
function cleanTexts(texts: string[], finder: Finder): string[] {
  return finder.reduce((before, scanner) => {
    const spans = scanner.find(before);
    return spans.length === 0 ? before : cutOut(before, spans);
  }, texts);
}

function cutOut(texts: readonly string[], spans: readonly Span[]): string[] {
  const rest = [...texts];
  const pieces = new Map<number, string[]>();
  const ends = new Map<number, number>();
  for (const { text, start, end } of spans) {
    const before = pieces.get(text) ?? [];
    before.push((texts[text] ?? '').slice(ends.get(text) ?? 0, start), mark);
    pieces.set(text, before);
    ends.set(text, end);
  }
  for (const [text, before] of pieces) rest[text] = [...before, (texts[text] ?? '').slice(ends.get(text))].join('');
  return rest;
}

/** Also finds a secret that is split over several text blocks, and replaces images and sounds whose data is a secret. */
function cleanBlocks(content: readonly ContentBlock[], finder: Finder): ContentBlock[] {
  const texts = cleanTexts(
    content.map((block) => (block.type === 'text' ? block.text : '')),
    finder,
  );
  return content.map((block, index) => {
    if (block.type === 'text') return { ...block, text: texts[index] ?? '' };
    if (block.type !== 'image' && block.type !== 'audio') return block;
    return finder.some((scanner) => scanner.find([block.data]).length > 0) ? { type: 'text', text: mark } : block;
  });
}

/** Registers a server's tokens with the redactor, which removes them from what the server returns. Used by calls of servers and by listings. */
export function withRedactedTokens(tokens: ServerTokens, redactor: Pick<Redactor, 'addSecret'>): ServerTokens {
  return {
    ...tokens,
    async token() {
      const token = await tokens.token();
      return token === null ? null : redactor.addSecret(token);
    },
  };
}
